import JSON

/// The header of a JWS (RFC 7515 section 4.1). It says what the sender claims, and proves nothing.
///
/// `jwk`, `jku`, `x5c` and `x5u` are never read: a key that travels with the signature proves nothing about who signed.
public struct JWSHeader: Sendable {
    /// `alg`, one of those we verify.
    public let algorithm: SignatureAlgorithm
    /// `kid`.
    public let keyID: String?
    /// `typ` as written; compare it with `hasType`.
    public let type: String?
    /// The whole header.
    public let json: JSONNode

    /// Whether `typ` names this media type: case does not matter, and `application/` may be left out (RFC 7515 section 4.1.9).
    public func hasType(_ expected: String) -> Bool {
        guard let type else { return false }
        return Self.canonical(type) == Self.canonical(expected)
    }

    private static func canonical(_ type: String) -> String {
        let type = type.lowercased()
        let prefix = "application/"
        guard type.hasPrefix(prefix), !type.dropFirst(prefix.count).contains("/") else { return type }
        return String(type.dropFirst(prefix.count))
    }

    /// Reads a decoded header and applies what RFC 8725 demands of every header.
    init(_ bytes: [UInt8]) throws(JWSError) {
        do throws(JSONSyntaxError) {
            json = try JSONText(bytes, maximumDepth: 8).root
        } catch {
            throw .malformed(.headerSyntax(error))
        }
        guard json.kind == .object else { throw .malformed(.headerNotObject) }
        guard let name = try Self.text("alg", of: json) else { throw .malformed(.headerParameter("alg")) }
        guard let algorithm = SignatureAlgorithm(name: name) else { throw .algorithmNotAllowed(name) }
        self.algorithm = algorithm
        if let critical = json["crit"] { throw .criticalHeader(Self.names(critical)) }
        keyID = try Self.text("kid", of: json)
        type = try Self.text("typ", of: json)
    }

    private static func text(_ name: String, of json: JSONNode) throws(JWSError) -> String? {
        guard let member = json[name] else { return nil }
        guard let text = member.string else { throw .malformed(.headerParameter(name)) }
        return text
    }

    private static func names(_ critical: JSONNode) -> [String] {
        var names: [String] = []
        critical.forEachElement { if let name = $1.string { names.append(name) } }
        return names
    }
}
