package mintmark;

/** The identity ID and token that an application's backend obtained from token.mintForDeveloper. */
public final class IssuedToken {
    private final String identityId;
    private final String token;

    /**
     * Creates the answer of the backend.
     *
     * @param identityId the ID of the identity
     * @param token the token
     */
    public IssuedToken(String identityId, String token) {
        this.identityId = identityId;
        this.token = token;
    }

    /** {@return the ID of the identity} */
    public String identityId() {
        return identityId;
    }

    /** {@return the token} */
    public String token() {
        return token;
    }

    /** Hides the token. */
    @Override
    public String toString() {
        return "IssuedToken[identityId=" + identityId + ", token=[secret]]";
    }
}
