package mintmark;

/** An application's own backend gave no token; why is the cause. */
public final class BackendException extends MintmarkException {
    private static final long serialVersionUID = 1;

    BackendException(Exception cause) {
        super("The application's backend gave no token: " + cause, cause);
    }

    /** Of a backend that gave something else. */
    BackendException(String reason) {
        super("The application's backend gave no token: " + reason, null);
    }
}
