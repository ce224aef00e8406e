package mintmark;

/** The process wrote output that is not valid Mintmark output. */
public final class ProtocolException extends MintmarkException {
    private static final long serialVersionUID = 1;

    ProtocolException(String message) {
        super(message);
    }

    /** Used if the process was stopped because of its output. */
    static ProtocolException of(String binary, String reason) {
        return new ProtocolException(binary + " does not respond like Mintmark: " + reason
                + ". Is it the right program? Set another path with options.binary(…) or MINTMARK_BINARY.");
    }

    /** Used if a member of a result does not match the contract. */
    static ProtocolException ofMember(String reason) {
        return new ProtocolException("The result does not match the contract of this client: " + reason
                + ". The program may have another version: compare mintmark --version. toJson() returns the result without decoding it.");
    }
}
