package mintmark;

/** The superclass of all exceptions of this client, except the IllegalArgumentException for invalid arguments. */
public abstract class MintmarkException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MintmarkException(String message) {
        super(message);
    }

    MintmarkException(String message, Throwable cause) {
        super(message, cause);
    }
}
