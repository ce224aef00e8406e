import Contract
import Storage

/// The kinds of second factors that a security profile accepts (Sources/Accounts/README.md, "Security profiles").
enum FactorProfile {
    /// - Throws: `FactorKindNotAccepted`.
    static func check(_ kind: FactorRecord.Kind, of account: AccountRecord, _ tenant: TenantRecord, in tx: Transaction) throws {
        let hasStronger = try tx.factors(of: account.id).contains { $0.kind == .totp } || !tx.passkeys(of: account.id).isEmpty
        guard let reason = refusal(of: kind, tenant.settings, hasStronger: hasStronger) else { return }
        throw FactorKindNotAccepted(kind: FactorKind(rawValue: kind.rawValue) ?? .totp, reason: reason)
    }

    /// - Parameter hasStronger: Whether the account has an authenticator app or a passkey.
    static func refusal(of kind: FactorRecord.Kind, _ settings: TenantCreate.Params, hasStronger: Bool) -> String? {
        switch kind {
        case .totp, .passkey: nil
        case .email where settings.assurance == .nistAal2:
            "nist-aal2 does not allow email as a second factor (NIST SP 800-63B-4 section 3.1.3.1); enroll an authenticator app"
        case .sms where settings.assurance != .none && !settings.acceptsSmsRisk && !hasStronger:
            "phone numbers can be taken over, so the account needs an authenticator app or a passkey first; "
                + "the setting acceptsSmsRisk of the tenant permits text messages alone"
        case .email, .sms: nil
        }
    }
}
