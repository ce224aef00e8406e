package mintmark;

/** The process wrote output that is not valid Mintmark output. */
public final class ProtocolException extends MintmarkException {
    private static final long serialVersionUID = 1;

    ProtocolException(String message) {
        super(message);
    }

    /** Used if the process was stopped because of its output. */
    static ProtocolException of(String binary, String reason) {
        return new ProtocolException(binary + " does not answer as Mintmark does: " + reason
                + ". Is it the right program? MINTMARK_BINARY or options.binary(…) names another.");
    }
}
