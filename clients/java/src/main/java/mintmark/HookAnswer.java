package mintmark;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a hook changes. Members that are not set change nothing. */
public final class HookAnswer {
    private final Map<String, Object> members = new LinkedHashMap<>();

    /** Creates an answer without changes. */
    public HookAnswer() {}

    /**
     * {@return this}
     * @param displayName the new display name; null removes it
     */
    public HookAnswer displayName(String displayName) {
        members.put("displayName", displayName);
        return this;
    }

    /**
     * {@return this}
     * @param photoUrl the URL of the new picture; null removes it
     */
    public HookAnswer photoUrl(String photoUrl) {
        members.put("photoUrl", photoUrl);
        return this;
    }

    /**
     * {@return this}
     * @param emailVerified whether the email address of the account is verified
     */
    public HookAnswer emailVerified(boolean emailVerified) {
        members.put("emailVerified", emailVerified);
        return this;
    }

    /**
     * {@return this}
     * @param claims the new custom claims of the account, which replace the present ones
     */
    public HookAnswer claims(Map<String, ?> claims) {
        members.put("claims", claims);
        return this;
    }

    /**
     * {@return this}
     * @param sessionClaims claims that only the tokens of the session contain; for beforeSignIn
     */
    public HookAnswer sessionClaims(Map<String, ?> sessionClaims) {
        members.put("sessionClaims", sessionClaims);
        return this;
    }

    /**
     * {@return this}
     * @param disabled whether the account is disabled. If true, it is stored, and the operation fails with an AccountDisabledException.
     */
    public HookAnswer disabled(boolean disabled) {
        members.put("disabled", disabled);
        return this;
    }

    Map<String, Object> members() {
        return members;
    }
}
