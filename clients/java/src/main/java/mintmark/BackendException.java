package mintmark;

/** The application's backend did not return a token; the cause has the reason. */
public final class BackendException extends MintmarkException {
    private static final long serialVersionUID = 1;

    BackendException(Exception cause) {
        super("The application's backend returned no token: " + cause, cause);
    }

    /** Used if the backend returned an invalid value instead of throwing. */
    BackendException(String reason) {
        super("The application's backend returned no token: " + reason, null);
    }
}
