import Contract
import Federation
import Network
import Platform

/// Validates the endpoints of a discovery document. A wrong or forged document must not be able to start a program on the user's device or
/// to have a code sent unencrypted (RFC 6749 §3.1 and §3.2, RFC 9700 §4.1 and §4.11).
extension IdpEndpoints {
    /// - Returns: The description of what is wrong with the endpoint, or `nil` if it is valid or not present.
    func flaw(_ kind: Kind, of idp: IdpRecord, allowsPlainLoopback: Bool) -> String? {
        guard let url = self[kind] else { return nil }
        let shown = IdpRecord.shown(url, called: kind.rawValue)
        if url.contains("#") { return "\(shown) has a fragment. The discovery document must not contain fragments." }
        if let flaw = idp.flaw(of: url, called: kind.rawValue, allowsPlainLoopback: allowsPlainLoopback) { return flaw }
        let names = Form.decode(url.drop { $0 != "?" }.dropFirst())?.map { $0.name.lowercased() } ?? []
        if kind == .authorization, let name = names.first(where: AuthorizationRequest.reserved.contains) {
            return "\(shown) contains the parameter \(name), which this service sets."
        }
        return nil
    }
}

extension IdpRecord {
    /// - Parameter name: The provider's name of this URL.
    /// - Returns: The reason why the URL is rejected, or `nil` if it is valid.
    func flaw(of url: String, called name: String, allowsPlainLoopback: Bool) -> String? {
        let issuer = IssuerAddress(
            issuers.first ?? "", allowsInsecureLoopback: settings.allowInsecure || allowsPlainLoopback,
            allowsPrivateNetwork: settings.allowPrivateNetwork)
        // A page for the user can have a fragment; the endpoints of a discovery document are checked for one before.
        let place = String(url.prefix { $0 != "#" })
        let isURL = ProviderURL.endpoint(place, issuer.policy(forNamed: place).addresses) != nil
        if isURL, (try? HTTPURL(url))?.isPlainASCII == true { return nil }
        let hint = HTTPURL.Scheme(beginning: url) == .http ? "; plain HTTP requires allowInsecure and a loopback address" : ""
        return "\(Self.shown(url, called: name)) is not an https URL\(hint)."
    }

    fileprivate static func shown(_ url: String, called name: String) -> String { "Its \(name) '\(ProviderErrorText.of(url))'" }
}

extension IdpInspection {
    /// Checks the endpoints and the client authentication of the token endpoint (OpenID Connect Discovery §3, RFC 8414 §2).
    static func endpoints(_ endpoints: IdpEndpoints, _ description: Description, _ idp: IdpRecord, allowsPlainLoopback: Bool) -> IdpCheck {
        var flaws = IdpEndpoints.Kind.allCases.compactMap { endpoints.flaw($0, of: idp, allowsPlainLoopback: allowsPlainLoopback) }
        if idp.responseType == .code {
            let (ways, own) = (description.clientAuthentications, idp.clientAuthentication)
            let wanted = own == .basic ? "client_secret_basic" : "client_secret_post"
            if own != .none, !ways.isEmpty, !ways.contains(wanted) {
                let other = ["client_secret_basic": "basic", "client_secret_post": "post"].first { ways.contains($0.key) }?.value
                flaws.append(
                    "The provider supports the client authentication \(ways.joined(separator: ", ")), not \(wanted). "
                        + (other.map { "Set clientAuthentication to \($0)." }
                            ?? "Register the client for client_secret_basic at the provider."))
            }
            let challenges = description.challengeMethods
            if !challenges.isEmpty, !challenges.contains("S256") {
                flaws.append("The provider supports PKCE only with \(challenges.joined(separator: ", ")); S256 is required.")
            }
        }
        return IdpCheck(
            check: "endpoints", ok: flaws.isEmpty,
            message: flaws.isEmpty ? "The endpoints are valid." : flaws.joined(separator: " "))
    }
}
