package mintmark;

import java.io.File;

/** The program does not exist at the path, is not on the PATH, or cannot be executed. */
public final class BinaryNotFoundException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /** The program. */
    private final String binary;

    BinaryNotFoundException(String binary, Throwable cause) {
        super("The program " + binary + (binary.contains("/") ? "" : " on the PATH") + " cannot be started: " + reason(binary, cause)
                + ". Install Mintmark, or build it in its repository (clients/shell/mintmark --version creates .build/mintmark). "
                + "Then set its path with options.binary(…) or MINTMARK_BINARY, or put it on the PATH.", cause);
        this.binary = binary;
    }

    private static String reason(String binary, Throwable cause) {
        return binary.contains("/") && new File(binary).isDirectory() ? "it is a folder" : cause.getMessage();
    }

    /**
     * The program that could not be started.
     *
     * @return a path or a name
     */
    public String binary() {
        return binary;
    }
}
