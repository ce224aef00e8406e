package mintmark;

/** The client or the CredentialsProvider was already closed. */
public final class ClientClosedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    ClientClosedException(String method) {
        this(method, "client that is closed. Start a new one.");
    }

    private ClientClosedException(String method, String what) {
        super(method + " was called on a " + what);
    }

    static ClientClosedException ofProvider(String method) {
        return new ClientClosedException(method, "CredentialsProvider that is closed. Create a new one.");
    }
}
