import Contract
import Crypto
import Platform
import ServiceContext

/// Authenticator apps for the APIs of other products.
package struct AuthenticatorApp: Sendable {
    package static let digits = TOTP.digits
    package static let periodSeconds = TOTP.periodSeconds
    package static let algorithm = TOTP.algorithm

    let secret: [UInt8]

    /// Creates an app with a new secret.
    package init(from random: any RandomSource) { secret = random.bytes(TOTP.secretCount) }

    /// Decrypts the secret of an enrollment.
    package init(_ sealed: [UInt8], session: String, _ context: AccountsContext) throws {
        secret = try context.vault.open(sealed, as: Self.name(session)).copy()
    }

    private static func name(_ session: String) -> String { "enrollment \(session)" }

    /// The secret as the user enters it into the app.
    package var text: String { Base32.encode(secret) }

    /// Returns the encrypted secret of an enrollment.
    package func sealed(session: String, _ context: AccountsContext) -> [UInt8] {
        context.vault.seal(SecretBytes(secret), as: Self.name(session))
    }

    /// Returns the time step of the code if it is right, otherwise `nil`.
    package func step(of code: String, drift: Int64, at now: Int64) -> Int64? {
        guard case .right(let step) = TOTP(SecretBytes(secret)).judge(code, at: now, drift: drift, after: nil) else { return nil }
        return step
    }

    /// Returns the factor of the app, without a display name.
    ///
    /// - Parameter step: The time step of the code with which the app is enrolled.
    package func factor(_ id: String, of accountId: String, step: Int64, at now: Int64, _ context: AccountsContext) -> FactorRecord {
        FactorRecord(
            id: id, accountId: accountId, kind: .totp, secret: context.vault.seal(SecretBytes(secret), as: FactorRecord.sealName(id)),
            lastStep: step, enrolledAt: now)
    }

    /// Verifies the code of an enrolled app, and counts wrong codes of the account.
    ///
    /// - Returns: Whether the code is right and was not used before.
    /// - Throws: `AccountLocked`.
    package static func accepts(
        _ code: String, _ factor: FactorRecord, of tenant: TenantRecord, _ context: AccountsContext
    ) throws -> Bool {
        let now = context.clock.now
        return try context.database.write { tx in
            try tx.lock([factor.accountId])
            let subject = FactorCheck.lockoutSubject(factor.accountId)
            var lockout = try tx.lockout(of: subject, at: now)
            try lockout.check(at: now)
            guard let factor = try tx.factors(of: factor.accountId).first(where: { $0.id == factor.id }), let sealed = factor.secret else {
                return false
            }
            let totp = TOTP(try context.vault.open(sealed, as: FactorRecord.sealName(factor.id)))
            guard case .right(let step) = totp.judge(code, at: now, drift: tenant.settings.totpAdjacentIntervals, after: factor.lastStep)
            else {
                lockout.fail(nil, tenant.lockout, at: now)
                try tx.setLockout(lockout, of: subject, at: now)
                return false
            }
            try tx.markUsed(factor, step: step, at: now)
            try tx.clearLockout(of: subject)
            return true
        }
    }
}
