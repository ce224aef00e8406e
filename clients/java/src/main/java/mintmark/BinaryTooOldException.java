package mintmark;

import mintmark.contract.Contract;

/** The program is older than this client, or lacks one of its methods. */
public final class BinaryTooOldException extends MintmarkException {
    private static final long serialVersionUID = 1;

    private final String binary;
    private final Answer answer;

    /** That is too old by what it says of itself. */
    BinaryTooOldException(String binary, String version) {
        super(binary + " is Mintmark " + version + advice());
        this.binary = binary;
        answer = null;
    }

    /** That lacks a method. */
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
     * The program.
     *
     * @return a path, or a name
     */
    public String binary() {
        return binary;
    }

    /**
     * Its answer, where it lacks a method.
     *
     * @return the answer, or null
     */
    public Answer answer() {
        return answer;
    }
}
