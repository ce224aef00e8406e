package mintmark;

/**
 * What an application's backend got from token.mintForDeveloper.
 *
 * @param identityId the identity's id
 * @param token the token
 */
public record IssuedToken(String identityId, String token) {
    /** Shows no secrets. */
    @Override
    public String toString() {
        return "IssuedToken[identityId=" + identityId + ", token=[secret]]";
    }
}
