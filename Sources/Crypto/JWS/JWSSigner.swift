import JSON
import Platform

/// A key and the protected header of its signatures, which is encoded once.
public struct JWSSigner: Sendable {
    private let key: PrivateKey
    /// The base64url text of the header, the dot before the payload, and the part of the common payload prefix that can be encoded without
    /// the rest of the payload.
    private let opening: [UInt8]
    /// The number of payload bytes that are encoded in `opening`.
    private let encodedCount: Int
    /// The digest of `opening`; `nil` if the algorithm needs the whole message.
    private let digest: PartialDigest?

    /// - Parameters:
    ///   - type: The value of `typ`, which distinguishes kinds of tokens (RFC 8725 section 3.11).
    ///   - keyID: The `kid` under which a verifier knows the key. Defaults to the key's thumbprint.
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

    /// Returns a signer for payloads that all begin with the given bytes, which are encoded and hashed only once.
    public func forPayloads(beginningWith beginning: [UInt8]) -> JWSSigner {
        precondition(encodedCount == 0, "the prefix of the payload can be set only once")
        let encodable = beginning.count / 3 * 3
        var opening = opening
        beginning[..<encodable].withUnsafeBufferPointer { Base64URL.append($0, to: &opening) }
        return JWSSigner(key, opening: opening, encodedCount: encodable)
    }

    /// Returns the number of characters of the compact form for a payload of the given number of bytes.
    public func count(ofPayload bytes: Int) -> Int {
        opening.count + Base64URL.encodedCount(bytes - encodedCount) + 1 + Base64URL.encodedCount(key.signatureCount)
    }

    /// Signs a payload, which must begin with the configured prefix. Returns the compact form (RFC 7515 section 7.1).
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
