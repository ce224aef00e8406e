import Crypto
import Platform

/// The key that encrypts the store's data key: 32 bytes that are never stored in the database.
public struct MasterKey: Sendable {
    let bytes: SecretBytes

    /// A part of a hash that distinguishes master keys in messages, too short to help find the key.
    public let fingerprint: String

    /// - Throws: `MalformedMasterKey` if the number of bytes is not 32.
    public init(_ bytes: [UInt8]) throws(MalformedMasterKey) {
        guard bytes.count == 32 else { throw MalformedMasterKey(count: bytes.count) }
        fingerprint = Hex.encode(HMAC.sha256(key: bytes, Array("mintmark master key".utf8)).prefix(6))
        self.bytes = SecretBytes(bytes)
    }

    /// Parses a key from a file or an environment variable: 43 characters of base64url or 64 hexadecimal digits. Surrounding whitespace is
    /// ignored.
    ///
    /// - Throws: `MalformedMasterKey`.
    public init(text: String) throws(MalformedMasterKey) {
        var trimmed = text[...]
        while trimmed.first?.isWhitespace == true { trimmed.removeFirst() }
        while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
        let key = String(trimmed)
        guard let bytes = key.utf8.count == 64 ? Hex.decode(key) : Base64URL.decode(key) else { throw MalformedMasterKey(count: nil) }
        try self.init(bytes)
    }

    public static func generate(_ random: some RandomSource) -> MasterKey { try! MasterKey(random.bytes(32)) }

    /// The default key of in-memory testing stores. Their data is never stored, so it needs no protection, and the stores can restore each
    /// other's snapshots.
    public static let ofMemory = try! MasterKey(Hash.sha256(Array("mintmark testing store in memory".utf8)))

    /// The data key of a new testing store under this master key.
    var testingDataKey: [UInt8] { HKDF.sha256(secret: bytes, salt: [], info: "mintmark testing data key", count: 32).copy() }

    /// The key as text, for the key file.
    public var text: String { Base64URL.encode(bytes.copy()) }
}

/// A master key that is not 32 bytes in base64url or hexadecimal.
public struct MalformedMasterKey: Error, Sendable {
    /// The number of bytes given, or `nil` if the text is neither base64url nor hexadecimal.
    public let count: Int?

    /// The reason, as a clause for a message.
    package var reason: String {
        count.map { "it has \($0) bytes" }
            ?? "it is neither base64url nor hexadecimal, or its last character encodes bits of a 33rd byte, as in truncated or invented text"
    }
}
