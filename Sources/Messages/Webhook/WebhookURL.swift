import Platform

/// Checks webhook URLs, so that an error is found when the URL is configured and not when a message is sent.
public enum WebhookURL {
    /// Returns the problem with the URL, or `nil` if it is valid. The result does not quote the URL, since a query may be a secret.
    public static func flaw(in text: String, allowsInsecureLoopback: Bool) -> String? {
        let url: HTTPURL
        do throws(HTTPURL.Flaw) { url = try HTTPURL(text) } catch {
            return switch error {
            case .scheme: "it does not begin with https://"
            case .characters: "it contains spaces or non-ASCII characters"
            case .host: "it contains no host"
            case .port: "its port is not between 1 and 65535"
            }
        }
        if !text.utf8.allSatisfy({ $0 < 0x7F }) { return "it contains spaces or non-ASCII characters" }
        if url.userInformation != nil { return "it contains a user name or password, which are not supported because requests are signed" }
        if url.fragment != nil { return "it contains a fragment (#)" }
        let isAllowed = AddressPolicy(allowsInsecureLoopback: allowsInsecureLoopback).admitsScheme(of: url)
        return isAllowed ? nil : "plain HTTP is allowed only for loopback addresses"
    }
}
