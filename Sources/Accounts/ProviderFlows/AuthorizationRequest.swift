import Contract
import Federation
import Platform

/// Builds the authorization URL (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1).
struct AuthorizationRequest {
    let flow: IdpFlow
    let idp: IdpRecord
    let secrets: IdpFlowSecrets
    let scope: String
    /// Further parameters that the caller sets.
    let custom: [(String, String)]

    /// The parameters that only this service sets.
    static let reserved: Set<String> = [
        "client_id", "response_type", "redirect_uri", "scope", "state", "response_mode", "nonce", "code_challenge",
        "code_challenge_method", "request", "request_uri", "client_secret",
    ]

    func url(at endpoint: String) -> String {
        var parameters = [
            ("client_id", idp.settings.clientId), ("response_type", flow.kind == .idToken ? "id_token" : "code"),
            ("redirect_uri", flow.redirectUri), ("scope", scope), ("state", secrets.state(of: flow.id)),
            ("nonce", secrets.nonce(of: flow.id)),
        ]
        if flow.kind == .code {
            parameters += [("code_challenge", secrets.challenge(of: flow.id)), ("code_challenge_method", "S256")]
        }
        // A fragment is never sent to a server, so the listener needs a form post. Apple returns the name and email address only in a form
        // post.
        if flow.kind == .idToken && flow.isHeard || idp.known == .apple { parameters.append(("response_mode", "form_post")) }
        parameters += ProviderStrength(idp).parameters
        let query = Form.encode(parameters + custom)
        let base = endpoint.prefix { $0 != "#" }
        return base + (base.contains("?") ? (base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&") : "?") + query
    }

    /// - Throws: `InvalidParams` with one violation for each reserved parameter.
    ///
    /// - Parameter others: Parameters that the settings of the provider set.
    static func check(_ custom: [String], besides others: Set<String> = []) throws {
        let violations = custom.filter { reserved.union(others).contains($0.lowercased()) }.map {
            Violation(
                pointer: "/customParameters/\(JSONPointer.escaped($0))", rule: "reserved",
                message: "The service itself sets \($0). Omit it\($0 == "scope" ? " and use scopes" : "").")
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }
}

/// The rules for redirect URIs (RFC 8252 §7, RFC 9700 §2.1).
enum RedirectRule {
    /// - Throws: `InvalidParams`.
    static func check(_ uri: String) throws {
        func refuse(_ message: String) -> InvalidParams {
            InvalidParams(violations: [Violation(pointer: "/redirectUri", rule: "redirect", message: message)])
        }
        guard uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\\\"<>^`{|}".utf8.contains($0) }), let colon = uri.firstIndex(of: ":")
        else {
            throw refuse("It is not a URI: a scheme, a colon and a path, in ASCII.")
        }
        if uri.contains("#") { throw refuse("It must not contain a fragment, which the provider may use for its response.") }
        let scheme = uri[..<colon].lowercased()
        switch scheme {
        case "https", "http":
            guard let url = try? HTTPURL(scheme + uri[colon...]), url.userInformation == nil,
                url.scheme == .https || ProviderURL.endpoint(uri, ProviderURL.policy(allowsPlainLoopback: true)) != nil
            else { throw refuse("It must be an https URL with a host, or an http URL with localhost, 127.0.0.1 or [::1].") }
        default:
            guard scheme.contains("."), scheme.utf8.first.map({ 0x61...0x7A ~= $0 }) == true,
                scheme.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) })
            else {
                throw refuse(
                    "A private-use scheme must be a reversed domain name, such as com.example.shop, to avoid conflicts with other apps.")
            }
        }
    }
}

/// Encodes and decodes `application/x-www-form-urlencoded`.
package enum Form {
    package static func encode(_ pairs: [(String, String)]) -> String {
        pairs.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    }

    /// - Returns: The names and values, or `nil` if the text is not valid UTF-8.
    package static func decode(_ text: some StringProtocol) -> [(name: String, value: String)]? {
        var pairs: [(String, String)] = []
        for part in text.split(separator: "&") {
            let name = part.prefix { $0 != "=" }
            let words = [name, part.dropFirst(name.count).dropFirst()].map {
                String(
                    validating: PercentEncoding.decode($0.split(separator: "+", omittingEmptySubsequences: false).joined(separator: " ")),
                    as: UTF8.self)
            }
            guard let name = words[0], let value = words[1] else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }
}
