package mintmark;

import java.util.Map;

/**
 * What Mintmark tells without being asked.
 *
 * @param method its name, such as {@code $/progress} or {@code credentialsProvider/identityChanged}
 * @param params what it says; of {@code credentialsProvider/identityChanged} the JSON of an {@link mintmark.contract.Types.IdentityChange}
 */
public record Notification(String method, Map<String, Object> params) {}
