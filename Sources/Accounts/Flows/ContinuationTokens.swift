import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// Creates and reads continuation tokens. A token contains the flow ID and step with an HMAC; tokens are derived, never stored.
struct ContinuationTokens: Sendable {
    private static let version: UInt8 = 1
    private static let macCount = 24
    private static let count = 1 + 16 + 4 + macCount
    private let context: AccountsContext
    private let ownKey: SecretBytes

    init(_ context: AccountsContext) {
        self.context = context
        ownKey = context.vault.subkey("continuation token")
    }

    /// Returns the token for `step` of the flow `id` (16 bytes in hexadecimal).
    func token(of id: String, step: Int64) -> String {
        let body = [Self.version] + (Hex.decode(id) ?? []) + (0..<4).reversed().map { UInt8(truncatingIfNeeded: step >> (8 * $0)) }
        let seeded = context.isTesting ? try? context.database.read(.patient) { try seededKey(in: $0) } : nil
        let key = (seeded ?? nil) ?? ownKey
        return Base64URL.encode(body + HMAC.sha256(key: key, body).prefix(Self.macCount))
    }

    /// - Throws: `ContinuationTokenInvalid` if this store did not create the token.
    func read(_ token: String, in tx: Transaction) throws -> (id: String, step: Int64) {
        let key = try context.isTesting ? seededKey(in: tx) ?? ownKey : ownKey
        guard let bytes = Base64URL.decode(token), bytes.count == Self.count, bytes[0] == Self.version,
            constantTimeEquals(
                Array(HMAC.sha256(key: key, bytes.dropLast(Self.macCount)).prefix(Self.macCount)), Array(bytes.suffix(Self.macCount)))
        else { throw ContinuationTokenInvalid() }
        return (Hex.encode(bytes[1..<17]), bytes[17..<21].reduce(0) { $0 << 8 | Int64($1) })
    }

    /// Returns the key derived from the seed of a testing store, so that stores with the same seed create the same tokens; `nil` without a
    /// seed.
    private func seededKey(in tx: Transaction) throws -> SecretBytes? {
        try tx.seed().map { SecretBytes(SeededRandomGenerator.bytes(32, of: $0, draw: -2)) }
    }
}
