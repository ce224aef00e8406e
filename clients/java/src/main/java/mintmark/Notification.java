package mintmark;

import java.util.Map;

/**
 * A notification from Mintmark.
 *
 * @param method its name, such as {@code $/progress} or {@code credentialsProvider/identityChanged}
 * @param params its parameters; for {@code credentialsProvider/identityChanged}, the JSON of an {@link
 * mintmark.contract.Types.IdentityChange}
 */
public record Notification(String method, Map<String, Object> params) {}
