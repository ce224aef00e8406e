package mintmark;

import java.util.Map;

/**
 * The request for a token of the application's backend.
 *
 * @param logins the logins of the user
 * @param identityId the current identity ID, which the backend passes to token.mintForDeveloper; null if there is none
 * @param reason the reason a token is required, or null if it is unknown
 */
public record TokenRequired(Map<String, String> logins, String identityId, String reason) {}
