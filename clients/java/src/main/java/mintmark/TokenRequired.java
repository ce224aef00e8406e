package mintmark;

import java.util.Map;

/**
 * Says for whom a token is needed.
 *
 * @param logins say who the user is
 * @param identityId the identity that is kept so far, for the backend to name in token.mintForDeveloper; null for none
 * @param reason why it is needed; null where the program does not say
 */
public record TokenRequired(Map<String, String> logins, String identityId, String reason) {}
