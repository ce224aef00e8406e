package mintmark;

/** Obtains a token from the application's backend. */
@FunctionalInterface
public interface OnTokenRequired {
    /**
     * Returns a token.
     *
     * @param required the logins and the identity that need the token
     * @return the identity ID and the token
     * @throws Exception if the backend fails: the call throws an unchecked exception unchanged, and wraps a checked one in a {@link
     * BackendException}
     */
    IssuedToken onTokenRequired(TokenRequired required) throws Exception;
}
