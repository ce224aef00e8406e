import Crypto
import Platform
import ServiceContext
import Storage

/// Single-use codes that replace a lost second factor. They are returned once and stored as HMACs.
struct RecoveryCodes: Sendable {
    /// The number of codes.
    static let count = 10
    /// The length of a code in bytes. From 112 bits, a code needs no slow hash (OWASP ASVS 5.0 §6.5.2): 140 bits are seven groups.
    private static let secretCount = 18
    /// The number of letters of a code, with five bits each.
    private static let letterCount = 28
    private let key: SecretBytes

    init(vault: Vault) { key = vault.subkey("recovery code") }

    /// Generates new codes in the form for the user: seven groups of four characters.
    static func fresh(_ random: any RandomSource) -> [String] {
        (0..<count).map { _ in
            let letters = Array(Base32.encode(random.bytes(secretCount)).lowercased().prefix(letterCount))
            return stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
        }
    }

    /// Returns the HMAC of a code. Ignores hyphens, spaces and case.
    func mac(_ code: String, of accountId: String) -> [UInt8] {
        let letters = code.uppercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        return HMAC.sha256(key: key, Array("\(accountId) ".utf8) + letters)
    }
}

extension Transaction {
    /// Returns the number of unused recovery codes of an account.
    func recoveryCodesLeft(of accountId: String) throws -> Int {
        try Int(queryOne("SELECT count(*) FROM recovery_code WHERE account_id = $1", accountId) { $0.int(0) } ?? 0)
    }

    /// Replaces all recovery codes of an account.
    func setRecoveryCodes(_ macs: [[UInt8]], of accountId: String) throws {
        try execute("DELETE FROM recovery_code WHERE account_id = $1", accountId)
        for mac in macs { try execute("INSERT INTO recovery_code (mac, account_id) VALUES ($1, $2)", mac, accountId) }
    }

    /// Deletes a recovery code when it is used. Returns `false` if the account has no such code.
    func spendRecoveryCode(_ mac: [UInt8], of accountId: String) throws -> Bool {
        try execute("DELETE FROM recovery_code WHERE mac = $1 AND account_id = $2", mac, accountId) == 1
    }
}
