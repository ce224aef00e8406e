package mintmark;

import mintmark.contract.Contract;

/** The program is older than this client, or lacks one of its methods. */
public final class BinaryTooOldException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /** The program. */
    private final String binary;

    /** Used if the version that the program reports is too old. */
    BinaryTooOldException(String binary, String version) {
        super(binary + " is Mintmark " + version + advice());
        this.binary = binary;
    }

    /** Used if the program lacks a method. */
    BinaryTooOldException(String binary, ApiException missing) {
        super(binary + " does not have the method " + missing.method() + advice(), missing);
        this.binary = binary;
    }

    private static String advice() {
        return ", which is older than this client for Mintmark " + Contract.VERSION + ". Install a newer program, or set the path of another one with "
                + "options.binary(…) or MINTMARK_BINARY.";
    }

    /**
     * The program that is too old.
     *
     * @return a path or a name
     */
    public String binary() {
        return binary;
    }
}
