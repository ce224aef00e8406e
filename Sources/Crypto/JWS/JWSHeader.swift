import JSON

/// The header of a JWS (RFC 7515 section 4.1). It contains unproven claims of the sender.
///
/// `jwk`, `jku`, `x5c` and `x5u` are never read: a key that is sent with the signature does not prove who signed.
public struct JWSHeader: Sendable {
    /// The value of `alg`, a supported algorithm.
    public let algorithm: SignatureAlgorithm
    /// The value of `kid`.
    public let keyID: String?
    /// The value of `typ` as written; compare it with `hasType`.
    public let type: String?
    /// The whole header.
    public let json: JSONNode

    /// Returns whether `typ` names this media type. The comparison is case-insensitive, and `application/` can be omitted (RFC 7515 section
    /// 4.1.9).
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

    /// Parses a decoded header and applies the rules of RFC 8725 for all headers.
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
