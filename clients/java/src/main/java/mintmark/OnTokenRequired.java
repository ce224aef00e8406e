package mintmark;

/** Asks an application's backend for a token. */
@FunctionalInterface
public interface OnTokenRequired {
    /**
     * Gives a token.
     *
     * @param required says for whom
     * @return the identity's id and the token
     * @throws Exception if there is none: an unchecked one is the call's, any other is the cause of the call's {@link BackendException}
     */
    IssuedToken onTokenRequired(TokenRequired required) throws Exception;
}
