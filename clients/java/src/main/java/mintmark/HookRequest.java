package mintmark;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import mintmark.contract.Account;

/** The question to a hook. */
public final class HookRequest {
    private final String hook;
    private final Map<String, Object> params;

    HookRequest(String hook, Map<String, Object> params) {
        this.hook = hook;
        this.params = params;
    }

    /** {@return the name of the hook, such as beforeSignIn} */
    public String hook() {
        return hook;
    }

    /** {@return the whole question} */
    public Map<String, Object> params() {
        return params;
    }

    /** {@return the tenant of the account or message} */
    public String tenantId() {
        return text("tenantId").orElse("");
    }

    /** {@return the account as it will be stored; empty for a message} */
    public Optional<Account> account() {
        return params.get("account") instanceof Map<?, ?> ? Optional.of(Result.of(Account.class, Message.object(params.get("account")))) : Optional.empty();
    }

    /** {@return the method that asks, such as signIn.withPassword} */
    public Optional<String> method() {
        return text("method");
    }

    /** {@return how the user signs in: password, code, passkey, anonymous, custom, or the ID of an identity provider} */
    public Optional<String> provider() {
        return text("provider");
    }

    /** {@return the authentication methods of the session (RFC 8176)} */
    public List<String> amr() {
        return params.get("amr") instanceof List<?> all ? all.stream().map(String::valueOf).toList() : List.of();
    }

    /** {@return whether the sign-in completes a sign-up or creates the account} */
    public boolean isNewAccount() {
        return Boolean.TRUE.equals(params.get("isNewAccount"));
    }

    /** {@return the kind of the second factor that was verified} */
    public Optional<String> secondFactor() {
        return text("secondFactor");
    }

    /** {@return the message of beforeSendMessage: channel, to, purpose, language and secondFactor} */
    public Map<String, Object> message() {
        return Message.object(params.get("message"));
    }

    private Optional<String> text(String name) {
        return params.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
    }

    /** Shows the name only. */
    @Override
    public String toString() {
        return "HookRequest[" + hook + "]";
    }
}
