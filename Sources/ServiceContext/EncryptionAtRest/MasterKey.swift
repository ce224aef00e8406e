import Crypto
import Platform

/// The key that protects the store's data key: 32 bytes that never stand in the database.
public struct MasterKey: Sendable {
    let bytes: SecretBytes

    /// Enough of a hash to tell two master keys apart in a message, too little to help anyone find them.
    public let fingerprint: String

    /// - Throws: `MalformedMasterKey` unless there are exactly 32 bytes.
    public init(_ bytes: [UInt8]) throws(MalformedMasterKey) {
        guard bytes.count == 32 else { throw MalformedMasterKey(count: bytes.count) }
        fingerprint = Hex.encode(HMAC.sha256(key: bytes, Array("mintmark master key".utf8)).prefix(6))
        self.bytes = SecretBytes(bytes)
    }

    /// Reads a key as it is given in a file or an environment variable: 43 characters of base64url or 64 hexadecimal
    /// digits, spaces and line ends around them ignored.
    ///
    /// - Throws: `MalformedMasterKey`.
    public init(text: String) throws(MalformedMasterKey) {
        let key = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        guard let bytes = key.utf8.count == 64 ? Hex.decode(key) : Base64URL.decode(key) else { throw MalformedMasterKey(count: nil) }
        try self.init(bytes)
    }

    public static func generate(_ random: some RandomSource) -> MasterKey { try! MasterKey(random.bytes(32)) }

    /// Of testing stores in memory that are given none: nothing of theirs lies anywhere for a key to protect, and each can take over the
    /// snapshots of another.
    public static let ofMemory = try! MasterKey(Hash.sha256(Array("mintmark testing store in memory".utf8)))

    /// What a new testing store under this key is sealed with.
    var testingDataKey: [UInt8] { HKDF.sha256(secret: bytes, salt: [], info: "mintmark testing data key", count: 32).copy() }

    /// The key as text, for the file that keeps it.
    public var text: String { Base64URL.encode(bytes.copy()) }
}

/// A master key that is not 32 bytes in base64url or hexadecimal.
public struct MalformedMasterKey: Error, Sendable {
    /// How many bytes were given, nil if the text was neither base64url nor hexadecimal.
    public let count: Int?

    /// Half a sentence.
    package var reason: String {
        count.map { "it has \($0) bytes" }
            ?? "it is neither base64url nor hexadecimal, or its last character encodes bits of a 33rd byte, as in truncated or invented text"
    }
}
