package mintmark;

/** Whatever goes wrong in this client, wrong arguments aside: those are an IllegalArgumentException. */
public abstract class MintmarkException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MintmarkException(String message) {
        super(message);
    }

    MintmarkException(String message, Throwable cause) {
        super(message, cause);
    }
}
