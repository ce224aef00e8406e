import Contract
import Network
import ServiceContext

extension AccountsContext {
    /// Validates a new password against the tenant's password policy and then, if the tenant enables it, the breached password check.
    ///
    /// If the breached password service is unavailable, the password is accepted and an audit record is written.
    /// - Throws: `InvalidPassword` with every violated rule.
    func check(_ password: NewPassword, by method: String, _ call: any CallContext) throws {
        let policy = password.tenant.passwordPolicy
        let failures = PasswordRules.failures(of: password.text, under: policy, context: password.words, isCurrent: password.isCurrent)
        if !failures.isEmpty { throw InvalidPassword(reasons: failures) }
        guard let check = policy.breached, let breachedPasswords else { return }
        switch try breachedPasswords.look(up: password.text, by: check, call) {
        case .notFound: return
        case .found:
            throw InvalidPassword(reasons: [
                PasswordFailure(rule: .breached, message: "It appears in a list of leaked passwords. Choose another one.")
            ])
        case .unavailable(let why):
            let event = AuditEvent(
                method, call, tenant: password.tenant.id, subject: password.accountId,
                details: [("breachedPasswordCheck", why.auditName)])
            let now = clock.now
            try database.write { try audit.record(event, at: now, in: $0) }
        }
    }
}

extension BreachedPasswords.Unavailability {
    /// The reason for the audit record. It contains no URL.
    fileprivate var auditName: String {
        switch self {
        case .noAnswer: "unavailable"
        case .status(let status): "unavailable: status \(status)"
        case .malformed: "unavailable: malformed response"
        }
    }
}
