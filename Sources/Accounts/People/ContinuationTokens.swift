import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// Continuation tokens: a flow and its step under an HMAC. They are derived, never stored (native-auth.md 1.9).
struct ContinuationTokens: Sendable {
    private static let version: UInt8 = 1
    private static let macCount = 24
    private static let count = 1 + 16 + 4 + macCount
    private let surroundings: AccountsContext
    private let ownKey: SecretBytes

    init(_ surroundings: AccountsContext) {
        self.surroundings = surroundings
        ownKey = surroundings.vault.subkey("continuation token")
    }

    /// What carries the flow `id` (16 bytes in hexadecimal) on from `step`.
    func token(of id: String, step: Int64) -> String {
        let body = [Self.version] + (Hex.decode(id) ?? []) + (0..<4).reversed().map { UInt8(truncatingIfNeeded: step >> (8 * $0)) }
        let seeded = surroundings.isTesting ? Patience.with(.full) { try? surroundings.database.read { try seededKey(in: $0) } } : nil
        let key = (seeded ?? nil) ?? ownKey
        return Base64URL.encode(body + HMAC.sha256(key: key, body).prefix(Self.macCount))
    }

    /// - Throws: `ContinuationTokenInvalid` for what this store has not made.
    func read(_ token: String, in tx: Transaction) throws -> (id: String, step: Int64) {
        let key = try surroundings.isTesting ? seededKey(in: tx) ?? ownKey : ownKey
        guard let bytes = Base64URL.decode(token), bytes.count == Self.count, bytes[0] == Self.version,
            constantTimeEquals(
                Array(HMAC.sha256(key: key, bytes.dropLast(Self.macCount)).prefix(Self.macCount)), Array(bytes.suffix(Self.macCount)))
        else { throw ContinuationTokenInvalid() }
        return (Hex.encode(bytes[1..<17]), bytes[17..<21].reduce(0) { $0 << 8 | Int64($1) })
    }

    /// Where a testing store has a seed, its tokens come from that, so that another store with it makes the same.
    private func seededKey(in tx: Transaction) throws -> SecretBytes? {
        try tx.seed().map { SecretBytes(StoreRandom.bytes(32, of: $0, draw: -2)) }
    }
}
