package mintmark;

import java.util.Map;

/** A notification from Mintmark. */
public final class Notification {
    private final String method;
    private final Map<String, Object> params;

    Notification(String method, Map<String, Object> params) {
        this.method = method;
        this.params = params;
    }

    /** {@return the name, such as <code>credentialsProvider/identityChanged</code>} */
    public String method() {
        return method;
    }

    /**
     * {@return the parameters} {@code Result.of(IdentityChange.class, notification.params())} converts those of
     * <code>credentialsProvider/identityChanged</code>.
     */
    public Map<String, Object> params() {
        return params;
    }

    /** Shows the name only, because parameters can contain secrets. */
    @Override
    public String toString() {
        return "Notification[" + method + "]";
    }
}
