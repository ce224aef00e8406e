import Contract
import Federation
import Network

/// Where a discovery document may send people, and have this service send secrets: a document that is wrong, or somebody else's, must
/// not have a program started on a person's machine, nor a code go over the network in the clear (RFC 6749 3.1, 3.2; RFC 9700 4.1, 4.11).
extension IdpEndpoints {
    /// - Returns: what is wrong with an endpoint, in words; nil if nothing is, or if there is none.
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
    /// - Parameter name: what the provider calls this URL.
    /// - Returns: why nobody is sent to it, in words; nil if people can be.
    func flaw(of url: String, called name: String, allowsPlainLoopback: Bool) -> String? {
        let issuer = IssuerAddress(
            issuers.first ?? "", allowsInsecureLoopback: settings.allowInsecure || allowsPlainLoopback,
            allowsPrivateNetwork: settings.allowPrivateNetwork)
        let scheme = issuer.policy(forNamed: url).allowsInsecureLoopback ? ProviderURL.httpsOrPlainLoopback : .https
        let place = url.prefix { $0 != "?" && $0 != "#" }
        let isURL =
            scheme.rest(of: String(place)) != nil && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\\\"<>^`{|}".utf8.contains($0) }
        if isURL { return nil }
        let hint = url.hasPrefix("http://") ? "; plain HTTP requires allowInsecure and a loopback address" : ""
        return "\(Self.shown(url, called: name)) is not an https URL\(hint)."
    }

    fileprivate static func shown(_ url: String, called name: String) -> String { "Its \(name) '\(Words.of(url))'" }
}

extension IdpInspection {
    /// What is said of the endpoints, and of what the token endpoint asks for (OpenID Connect Discovery 3, RFC 8414 section 2).
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
