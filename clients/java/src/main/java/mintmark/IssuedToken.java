package mintmark;

/**
 * The identity ID and token that an application's backend obtained from token.mintForDeveloper.
 *
 * @param identityId the ID of the identity
 * @param token the token
 */
public record IssuedToken(String identityId, String token) {
    /** Omits the token from the text. */
    @Override
    public String toString() {
        return "IssuedToken[identityId=" + identityId + ", token=[secret]]";
    }
}
