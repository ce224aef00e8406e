import JSON
import Platform

/// A signed token, taken apart without looking at its signature.
struct InspectedJWT {
    let header: JSONObject
    let claims: JSONObject

    /// The text is not a token, with the reason.
    struct Unreadable: Error {
        let reason: String
    }

    init(_ text: String) throws(Unreadable) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let words = ["no parts", "one part", "two parts", "three parts", "four parts", "five parts"]
        guard parts.count == 3 else {
            throw Unreadable(
                reason: "\(words.indices.contains(parts.count) ? words[parts.count] : "\(parts.count) parts") instead of three")
        }
        header = try Self.object(parts[0], "header")
        claims = try Self.object(parts[1], "claims")
        guard Base64URL.decode(String(parts[2])) != nil else { throw Unreadable(reason: "the signature is not base64url") }
    }

    private static func object(_ part: Substring, _ name: String) throws(Unreadable) -> JSONObject {
        guard let bytes = Base64URL.decode(String(part)) else { throw Unreadable(reason: "the \(name) part is not base64url") }
        guard let object = (try? JSONValue(parsing: bytes))?.object else { throw Unreadable(reason: "the \(name) part is no JSON object") }
        return object
    }

    var keyId: String? { header["kid"]?.string }
    var issuer: String? { claims["iss"]?.string }

    /// The pool or tenant in the issuer of this program's tokens.
    var owner: String? {
        guard let parts = issuer?.split(separator: "/").suffix(2), parts.count == 2 else { return nil }
        return switch parts.first {
        case "pools": "pool \(parts.last ?? "")"
        case "tenants": "tenant \(parts.last ?? "")"
        default: nil
        }
    }

    /// Returns the errors that the times of the token cause, whatever its signature is worth.
    func refusals(at now: Int64) -> [(type: String, message: String)] {
        var refusals: [(String, String)] = []
        if let expiry = claims["exp"]?.int, expiry <= now {
            refusals.append(("tokenExpired", "The token expired \(MomentText.text(expiry, now: now))."))
        }
        if let start = claims["nbf"]?.int, start > now {
            refusals.append(("tokenNotYetValid", "The token is valid from \(MomentText.text(start, now: now))."))
        }
        return refusals
    }
}
