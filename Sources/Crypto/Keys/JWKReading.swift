import JSON
import Platform

extension JWK {
    /// Parses a public key.
    ///
    /// - Parameters:
    ///   - node: A JSON object. Unknown members are ignored (RFC 7517 section 4). A private member is rejected.
    ///   - rsaAlgorithm: The algorithm of an RSA key without `alg`. The type of other keys determines their algorithm.
    /// - Throws: `KeyError` with the member or the rule.
    public init(_ node: JSONNode, rsaAlgorithm: SignatureAlgorithm = .RS256) throws(KeyError) {
        if node["d"] != nil { throw .privateKeyPublished }
        try self.init(publicMembersOf: node, rsaAlgorithm: rsaAlgorithm)
    }

    /// Parses the public members and ignores private ones.
    init(publicMembersOf node: JSONNode, rsaAlgorithm: SignatureAlgorithm) throws(KeyError) {
        let material = try Material(node)
        try node.requireForSignatures()
        let algorithm = try node.algorithm() ?? material.impliedAlgorithm ?? rsaAlgorithm
        guard material.allows(algorithm) else { throw .algorithmMismatch(algorithm) }
        let keyID = try node.optionalText("kid") ?? material.thumbprint
        self.init(material, algorithm: algorithm, keyID: keyID)
    }
}

extension JWK.Material {
    init(_ node: JSONNode) throws(KeyError) {
        switch try node.text("kty") {
        case "EC":
            let name = try node.text("crv")
            guard let curve = Curve(rawValue: name) else { throw .unsupportedCurve(name) }
            let count = curve.coordinateCount
            self = .ec(curve, x: try node.bytes("x", count: count), y: try node.bytes("y", count: count))
        case "RSA":
            self = .rsa(n: try node.unsigned("n"), e: try node.unsigned("e"))
        case "OKP":
            let name = try node.text("crv")
            guard name == "Ed25519" else { throw .unsupportedCurve(name) }
            self = .ed25519(x: try node.bytes("x", count: 32))
        case let type: throw .unsupportedType(type)
        }
    }

    /// The only algorithm for this type of key; `nil` for RSA, which has six.
    var impliedAlgorithm: SignatureAlgorithm? {
        switch self {
        case .ec(let curve, _, _): curve.algorithm
        case .rsa: nil
        case .ed25519: .EdDSA
        }
    }
}

extension JSONNode {
    /// Returns a required string member.
    func text(_ name: String) throws(KeyError) -> String {
        guard let text = self[name]?.string else { throw .malformedMember(name) }
        return text
    }

    /// Returns an optional string member.
    func optionalText(_ name: String) throws(KeyError) -> String? {
        self[name] == nil ? nil : try text(name)
    }

    /// Returns a member that is the base64url encoding of exactly `count` bytes.
    func bytes(_ name: String, count: Int) throws(KeyError) -> [UInt8] {
        guard let bytes = Base64URL.decode(try text(name)), bytes.count == count else { throw .malformedMember(name) }
        return bytes
    }

    /// Returns a member that is a base64url number. Removes leading zeros, which some libraries write.
    func unsigned(_ name: String) throws(KeyError) -> [UInt8] {
        guard let bytes = Base64URL.decode(try text(name)), let start = bytes.firstIndex(where: { $0 != 0 })
        else { throw .malformedMember(name) }
        return Array(bytes[start...])
    }

    /// Returns the algorithm in `alg`, or `nil` without `alg`.
    func algorithm() throws(KeyError) -> SignatureAlgorithm? {
        guard let name = try optionalText("alg") else { return nil }
        guard let algorithm = SignatureAlgorithm(name: name) else { throw .unsupportedAlgorithm(name) }
        return algorithm
    }

    /// Rejects a key that is intended for another use (RFC 7517 sections 4.2 and 4.3).
    func requireForSignatures() throws(KeyError) {
        if let use = try optionalText("use"), use != "sig" { throw .notForSignatures }
        guard let operations = self["key_ops"] else { return }
        guard operations.kind == .array else { throw .malformedMember("key_ops") }
        var isForSignatures = false
        operations.forEachElement { isForSignatures = isForSignatures || $1.isString("verify") || $1.isString("sign") }
        if !isForSignatures { throw .notForSignatures }
    }
}
