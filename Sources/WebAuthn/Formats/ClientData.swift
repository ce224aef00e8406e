import Crypto
import JSON

/// The client data of a ceremony: what the browser says about the page (WebAuthn Level 3 section 5.8.1).
struct ClientData {
    /// The values of `type`.
    enum Ceremony: String { case create = "webauthn.create", get = "webauthn.get" }

    /// SHA-256 of the bytes as they came, which the authenticator signed.
    let hash: [UInt8]

    /// Checks the client data of a ceremony (sections 7.1 steps 5 to 11, 7.2 steps 7 to 14).
    ///
    /// - Parameter challenge: The base64url text of the challenge of the ceremony.
    init(_ bytes: [UInt8], ceremony: Ceremony, challenge: String, relyingParty: RelyingParty) throws(PasskeyRefusal) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard let text = try? JSONText(bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes), text.root.kind == .object
        else {
            throw PasskeyRefusal(.clientDataInvalid, "The client data is not a JSON object.")
        }
        let type = try text.root.requiredText("type")
        guard type == ceremony.rawValue else {
            throw PasskeyRefusal(.wrongType, "The type of the client data is \(type.quoted), not \(ceremony.rawValue.quoted).")
        }
        guard constantTimeEquals(try text.root.requiredText("challenge"), challenge) else {
            throw PasskeyRefusal(.challengeMismatch, "The challenge is not that of this ceremony.")
        }
        try Self.checkOrigins(text.root, relyingParty)
        if let binding = text.root["tokenBinding"], binding["status"]?.isString("present") == true {
            throw PasskeyRefusal(.tokenBindingPresent, "The client data is bound to a TLS connection, which cannot be checked here.")
        }
        hash = Hash.sha256(bytes)
    }

    private static func checkOrigins(_ root: JSONNode, _ relyingParty: RelyingParty) throws(PasskeyRefusal) {
        let origin = try root.requiredText("origin")
        guard relyingParty.origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) else {
            throw PasskeyRefusal(.originNotAllowed, "The origin \(origin.quoted) is not one of the tenant's origins.")
        }
        let crossOrigin = root["crossOrigin"]
        guard crossOrigin == nil || crossOrigin?.bool != nil else {
            throw PasskeyRefusal(.clientDataInvalid, "crossOrigin in the client data is not a boolean.")
        }
        let isCrossOrigin = crossOrigin?.bool ?? false
        let any = relyingParty.topOrigins.contains("*")
        guard let top = root["topOrigin"] else {
            guard !isCrossOrigin || any else {
                throw PasskeyRefusal(
                    .crossOriginNotAllowed, "The page was embedded by a page of another origin, which the tenant does not allow.")
            }
            return
        }
        guard let topOrigin = top.string else {
            throw PasskeyRefusal(.clientDataInvalid, "topOrigin in the client data is not a string.")
        }
        guard !isCrossOrigin || !relyingParty.topOrigins.isEmpty else {
            throw PasskeyRefusal(
                .crossOriginNotAllowed, "The page was embedded by a page of another origin, which the tenant does not allow.")
        }
        guard isCrossOrigin, any || relyingParty.topOrigins.contains(where: { $0.utf8.elementsEqual(topOrigin.utf8) }) else {
            throw PasskeyRefusal(.topOriginNotAllowed, "The embedding origin \(topOrigin.quoted) is not one of the tenant's topOrigins.")
        }
    }
}

extension JSONNode {
    fileprivate func requiredText(_ name: String) throws(PasskeyRefusal) -> String {
        guard let text = self[name]?.string else {
            throw PasskeyRefusal(.clientDataInvalid, "The client data has no \(name), or it is not a string.")
        }
        return text
    }
}

extension String {
    /// The text in quotation marks for a message, at most 200 characters of it, without control characters.
    var quoted: String {
        "\"" + String(String.UnicodeScalarView(unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(200))) + "\""
    }
}
