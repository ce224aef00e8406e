import Crypto
import JSON

/// The classification of errors of Facebook's Graph API.
package enum GraphAPIError {
    /// Whether an error has another cause than the token: unknown error, service down, or too many calls (Graph API, Handling Errors).
    package static func isTemporary(_ error: JSONNode?) -> Bool {
        error?["is_transient"]?.bool == true || [1, 2, 4, 17, 32, 341, 613].contains(error?["code"]?.number?.int64 ?? 0)
    }
}

/// Texts of a provider, in a form that error messages can contain.
package enum ProviderErrorText {
    /// Returns at most 200 printable characters.
    package static func of(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(200)))
    }

    package static func refusal(_ error: String, _ description: String?) -> String {
        let plain =
            switch error {
            case "access_denied": "the user canceled the sign-in or is not allowed to sign in."
            case "expired_token": "the code was not entered in time. Start again."
            case "temporarily_unavailable", "server_error": "it is temporarily unavailable. Try again later."
            default: "it returned \(of(error))."
            }
        return description.map { "\(plain) Its description: \(of($0))" } ?? plain
    }
}

extension JWSError {
    /// The reason why a token of another issuer is not accepted. Empty if the signature is wrong.
    package var text: String {
        switch self {
        case .malformed: "It is not a signed JSON Web Token."
        case .algorithmNotAllowed(let name): "Its algorithm \(name) is not accepted."
        case .criticalHeader: "Its header requires extensions (crit) that are not supported."
        case .algorithmMismatch, .unknownKey, .badSignature: ""
        }
    }
}
