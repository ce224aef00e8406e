import Contract
import Crypto
import Federation

/// The parameters of an authorization response (RFC 6749 §4.1.2, RFC 9207, RFC 9700 §4.4 and §4.5). A response that does not belong to the
/// flow is rejected and changes nothing.
enum AuthorizationCallback: Equatable {
    case code(String)
    case idToken(String, accessToken: String?)

    /// - Throws: `CallbackInvalid`; `SignInRefused` if the response contains an error of the provider.
    init(_ url: String, _ flow: IdpFlow, state: String, issuers: [String]) throws {
        func refuse(_ check: String, _ reason: String) -> CallbackInvalid { CallbackInvalid(check: check, reason: reason) }
        let place = url.prefix { $0 != "?" && $0 != "#" }
        let expected = flow.redirectUri.prefix { $0 != "?" }
        guard place.utf8.elementsEqual(expected.utf8) || (expected.hasSuffix("/") && place + "/" == expected) else {
            throw refuse("redirectUri", "It does not begin with \(expected), the redirect URI of this flow.")
        }
        let rest = url.dropFirst(place.count)
        let query = rest.first == "?" ? rest.dropFirst().prefix { $0 != "#" } : ""
        let fragment = rest.drop { $0 != "#" }.dropFirst()
        guard let pairs = Form.decode(query), let more = Form.decode(fragment) else {
            throw refuse("malformed", "Its parameters are not valid UTF-8.")
        }
        var values: [String: String] = [:]
        for (name, value) in pairs + more {
            guard Self.names.contains(name) else { continue }
            guard values.updateValue(value, forKey: name) == nil else { throw refuse("malformed", "It contains \(name) twice.") }
        }
        guard let given = values["state"], constantTimeEquals(Array(given.utf8), Array(state.utf8)) else {
            throw refuse("state", "Its state does not belong to this flow. It may be the callback of another flow, or an attack.")
        }
        if let issuer = values["iss"] {
            guard issuers.contains(where: { $0.utf8.elementsEqual(issuer.utf8) }) else {
                throw refuse("issuer", "It contains the issuer of another provider (iss).")
            }
        } else if flow.namesIssuer, values["error"] == nil {
            // Some providers omit `iss` in error responses. An error response without it is accepted, because the flow does not continue
            // after an error (RFC 9207 §2.4).
            throw refuse("issuer", "It does not contain iss, although the provider always returns it.")
        }
        if let error = values["error"] {
            throw SignInRefused(
                providerId: flow.providerId, error: ProviderErrorText.of(error),
                reason: ProviderErrorText.refusal(error, values["error_description"]))
        }
        switch flow.kind {
        case .code:
            guard let code = values["code"], !code.isEmpty else { throw refuse("missing", "It contains no code.") }
            self = .code(code)
        case .idToken:
            guard let token = values["id_token"], !token.isEmpty else { throw refuse("missing", "It contains no id_token.") }
            self = .idToken(token, accessToken: values["access_token"])
        case .device: throw refuse("missing", "A device authorization has no callback. Omit url.")
        }
    }

    private static let names: Set<String> = ["state", "code", "id_token", "access_token", "iss", "error", "error_description"]
}
