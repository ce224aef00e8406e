import JSON
import Platform

/// A key with the one protected header that it signs under, encoded once.
public struct JWSSigner: Sendable {
    private let key: PrivateKey
    /// The base64url text of the header, followed by the dot before the payload and by as much of what all payloads begin with as can
    /// be encoded without knowing the rest.
    private let opening: [UInt8]
    /// How many bytes of the payload are encoded in `opening`.
    private let encodedCount: Int
    /// What has seen `opening`; nil where the whole message is needed.
    private let digest: PartialDigest?

    /// - Parameters:
    ///   - type: `typ`, which tells kinds of tokens apart (RFC 8725 section 3.11).
    ///   - keyID: the `kid` a foreign verifier knows the key by; the key's thumbprint if nil.
    public init(_ key: PrivateKey, type: String, keyID: String? = nil) {
        self.init(key, opening: Self.encodedHeader(key.algorithm, keyID ?? key.keyID, type), encodedCount: 0)
    }

    private init(_ key: PrivateKey, opening: [UInt8], encodedCount: Int) {
        self.key = key
        self.opening = opening
        self.encodedCount = encodedCount
        digest = key.algorithm.signature.digest.map { digest in
            opening.withUnsafeBytes { PartialDigest(digest.algorithm, of: $0) }
        }
    }

    /// A signer for payloads that all begin with these bytes, which are encoded and hashed once and for all.
    public func forPayloads(beginningWith beginning: [UInt8]) -> JWSSigner {
        precondition(encodedCount == 0, "the prefix of the payload can be set only once")
        let encodable = beginning.count / 3 * 3
        var opening = opening
        beginning[..<encodable].withUnsafeBufferPointer { Base64URL.append($0, to: &opening) }
        return JWSSigner(key, opening: opening, encodedCount: encodable)
    }

    /// How many characters the compact form of a payload of so many bytes has.
    public func count(ofPayload bytes: Int) -> Int {
        opening.count + Base64URL.encodedCount(bytes - encodedCount) + 1 + Base64URL.encodedCount(key.signatureCount)
    }

    /// Signs a payload, which begins as was said. Answers the compact form (RFC 7515 section 7.1).
    ///
    /// - Throws: `CryptoFailure`.
    public func sign(_ payload: [UInt8]) throws(CryptoFailure) -> String {
        let signatureCount = key.signatureCount
        var compact: [UInt8] = []
        compact.reserveCapacity(count(ofPayload: payload.count))
        compact.append(contentsOf: opening)
        payload[encodedCount...].withUnsafeBufferPointer { Base64URL.append($0, to: &compact) }
        let signature = ThreadContexts.current.outputSpace(signatureCount)
        try compact.withUnsafeBytes { input in
            Result { () throws(CryptoFailure) in try key.sign(input, after: digest, of: opening.count, into: signature) }
        }.get()
        compact.append(UInt8(ascii: "."))
        Base64URL.append(UnsafeBufferPointer(signature.bindMemory(to: UInt8.self)), to: &compact)
        return String(decoding: compact, as: UTF8.self)
    }

    private static func encodedHeader(_ algorithm: SigningAlgorithm, _ keyID: String, _ type: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("alg")
        writer.string(algorithm.rawValue)
        writer.key("kid")
        writer.string(keyID)
        writer.key("typ")
        writer.string(type)
        writer.endObject()
        var encoded: [UInt8] = []
        Base64URL.append(writer.bytes, to: &encoded)
        encoded.append(UInt8(ascii: "."))
        return encoded
    }
}
