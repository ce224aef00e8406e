package mintmark;

/** The client or the CredentialsProvider was already closed. */
public final class ClientClosedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    ClientClosedException(String call) {
        this(call, "client that is closed; start a new one.");
    }

    private ClientClosedException(String call, String what) {
        super(call + " was called on a " + what);
    }

    static ClientClosedException ofProvider(String call) {
        return new ClientClosedException(call, "CredentialsProvider that is closed; make a new one.");
    }
}
