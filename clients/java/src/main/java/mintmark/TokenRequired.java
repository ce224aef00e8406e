package mintmark;

import java.util.Map;
import java.util.Optional;

/** The request for a token of the application's backend. */
public final class TokenRequired {
    private final Map<String, String> logins;
    private final Optional<String> identityId;
    private final Optional<String> reason;

    TokenRequired(Map<String, String> logins, Optional<String> identityId, Optional<String> reason) {
        this.logins = logins;
        this.identityId = identityId;
        this.reason = reason;
    }

    /** {@return the logins of the user} */
    public Map<String, String> logins() {
        return logins;
    }

    /** {@return the current identity ID, which the backend passes to token.mintForDeveloper} */
    public Optional<String> identityId() {
        return identityId;
    }

    /** {@return the reason a token is required, such as <code>expired</code>} */
    public Optional<String> reason() {
        return reason;
    }
}
