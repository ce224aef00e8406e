package mintmark;

import mintmark.contract.Contract;

/** The program is older than this client, or lacks one of its methods. */
public final class BinaryTooOldException extends MintmarkException {
    private static final long serialVersionUID = 1;

    private final String binary;
    private final Answer answer;

    /** Used if the version that the program reports is too old. */
    BinaryTooOldException(String binary, String version) {
        super(binary + " is Mintmark " + version + advice());
        this.binary = binary;
        answer = null;
    }

    /** Used if the program lacks a method. */
    BinaryTooOldException(String binary, Answer answer) {
        super(binary + " has no method " + answer.call() + advice());
        this.binary = binary;
        this.answer = answer;
    }

    private static String advice() {
        return ": it is older than this client, which was made for Mintmark " + Contract.VERSION + ". Build or install the newer one; "
                + "mintmark --version says what it is, MINTMARK_BINARY or options.binary(…) names another.";
    }

    /**
     * The program that is too old.
     *
     * @return a path or a name
     */
    public String binary() {
        return binary;
    }

    /**
     * The error that the program returned, if it lacks a method.
     *
     * @return the error, or null
     */
    public Answer answer() {
        return answer;
    }
}
