import JSON
import Platform

/// A key with the one protected header that it signs under, encoded once.
public struct JWSSigner: Sendable {
    private let key: PrivateKey
    /// The base64url text of the header, followed by the dot before the payload.
    private let header: [UInt8]

    /// - Parameters:
    ///   - type: `typ`, which tells kinds of tokens apart (RFC 8725 section 3.11).
    ///   - keyID: the `kid` a foreign verifier knows the key by; the key's thumbprint if nil.
    public init(_ key: PrivateKey, type: String, keyID: String? = nil) {
        self.key = key
        header = Self.encodedHeader(key.algorithm, keyID ?? key.keyID, type)
    }

    /// How many characters the compact form of a payload of so many bytes has.
    public func count(ofPayload bytes: Int) -> Int {
        header.count + Base64URL.encodedCount(bytes) + 1 + Base64URL.encodedCount(key.signatureCount)
    }

    /// Signs a payload. Answers the compact form (RFC 7515 section 7.1).
    ///
    /// - Throws: `CryptoFailure`.
    public func sign(_ payload: [UInt8]) throws(CryptoFailure) -> String {
        let signatureCount = key.signatureCount
        var compact: [UInt8] = []
        compact.reserveCapacity(
            header.count + Base64URL.encodedCount(payload.count) + 1 + Base64URL.encodedCount(signatureCount))
        compact.append(contentsOf: header)
        payload.withUnsafeBufferPointer { Base64URL.append($0, to: &compact) }
        let signature = ThreadContexts.current.outputSpace(signatureCount)
        try compact.withUnsafeBytes { input in
            Result { () throws(CryptoFailure) in try key.sign(input, into: signature) }
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
