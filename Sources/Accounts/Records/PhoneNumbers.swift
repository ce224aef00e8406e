import Contract
import Storage

/// The phone numbers of accounts. They are stored with the addresses, as names of the kind `phone`: a number belongs to at most one account
/// of its tenant, and an account has at most one number.
extension Transaction {
    /// Returns the phone number of an account, or `nil`.
    package func phoneNumber(of accountId: String) throws -> String? {
        try queryOne("SELECT name FROM account_name WHERE account_id = $1 AND kind = 'phone'", accountId) { $0.string(0) }
    }

    /// Returns the account with a phone number, or `nil`.
    package func account(withPhoneNumber number: String, in tenantId: String) throws -> AccountRecord? {
        let id = try queryOne(
            "SELECT account_id FROM account_name WHERE tenant_id = $1 AND kind = 'phone' AND name = $2", tenantId, number
        ) { $0.string(0) }
        return try id.flatMap { try account($0) }
    }

    /// Replaces the phone number of an account.
    ///
    /// - Parameter number: The number, or `nil` to remove the present one.
    /// - Throws: `PhoneNumberInUse` if another account of the tenant has the number.
    package func setPhoneNumber(_ number: String?, of account: AccountRecord) throws {
        let present = try phoneNumber(of: account.id)
        if present == number { return }
        try execute("DELETE FROM account_name WHERE account_id = $1 AND kind = 'phone'", account.id)
        guard let number else { return }
        let isFree =
            try execute(
                """
                INSERT INTO account_name (tenant_id, kind, name, account_id) VALUES ($1, 'phone', $2, $3)
                ON CONFLICT (tenant_id, kind, name) DO NOTHING
                """, account.tenantId, number, account.id) == 1
        if !isFree { throw PhoneNumberInUse(phoneNumber: number) }
    }
}

extension PhoneNumber {
    /// Returns the number in its stored form.
    ///
    /// - Throws: `InvalidPhoneNumber`.
    package static func checked(_ text: String) throws -> String {
        do { return try PhoneNumber(text).description } catch { throw InvalidPhoneNumber(reason: error.description) }
    }
}
