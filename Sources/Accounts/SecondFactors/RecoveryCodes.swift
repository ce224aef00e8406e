import Crypto
import Platform
import ServiceContext
import Storage

/// Codes for whoever has lost their second factor: shown once, kept as HMACs, each good once.
struct RecoveryCodes: Sendable {
    /// How many there are.
    static let count = 10
    /// 80 bits are too many to guess, whatever the store is asked.
    private static let secretCount = 10
    private let key: SecretBytes

    init(vault: Vault) { key = vault.subkey("recovery code") }

    /// New codes, as they are written down: four groups of four.
    static func fresh(_ random: any RandomSource) -> [String] {
        (0..<count).map { _ in
            let letters = Array(Base32.encode(random.bytes(secretCount)).lowercased())
            return stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
        }
    }

    /// What is kept of a code. Hyphens, blanks and case do not matter to it.
    func mac(_ code: String, of accountId: String) -> [UInt8] {
        let letters = code.uppercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        return HMAC.sha256(key: key, Array("\(accountId) ".utf8) + letters)
    }
}

extension Transaction {
    /// How many an account has left.
    func recoveryCodesLeft(of accountId: String) throws -> Int {
        try Int(queryOne("SELECT count(*) FROM recovery_code WHERE account_id = $1", accountId) { $0.int(0) } ?? 0)
    }

    /// Replaces them all.
    func setRecoveryCodes(_ macs: [[UInt8]], of accountId: String) throws {
        try execute("DELETE FROM recovery_code WHERE account_id = $1", accountId)
        for mac in macs { try execute("INSERT INTO recovery_code (mac, account_id) VALUES ($1, $2)", mac, accountId) }
    }

    /// Uses one up. Answers false if there is none like it.
    func spendRecoveryCode(_ mac: [UInt8], of accountId: String) throws -> Bool {
        try execute("DELETE FROM recovery_code WHERE mac = $1 AND account_id = $2", mac, accountId) == 1
    }
}
