package mintmark;

/** What came out of the pipe is not what Mintmark writes. */
public final class ProtocolException extends MintmarkException {
    private static final long serialVersionUID = 1;

    ProtocolException(String message) {
        super(message);
    }

    /** Of a process that was ended for it. */
    static ProtocolException of(String binary, String reason) {
        return new ProtocolException(binary + " does not answer as Mintmark does: " + reason
                + ". Is it the right program? MINTMARK_BINARY or options.binary(…) names another.");
    }
}
