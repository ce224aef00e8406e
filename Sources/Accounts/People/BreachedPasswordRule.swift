import Contract
import Network
import ServiceContext

/// Knows whether passwords have leaked.
public protocol BreachedPasswordLookup: Sendable {
    /// Asks the service that a tenant names.
    ///
    /// - Throws: what moves the call to where it may wait for other machines; nothing if the service cannot be asked.
    func look(up password: String, by check: BreachedPasswordCheck, _ call: any CallContext) throws -> BreachedPasswords.Outcome
}

extension BreachedPasswordCheck {
    /// What may be reached for it. Somebody is waiting, so it is not for long.
    public var policy: HTTPPolicy {
        HTTPPolicy(allowsInsecureLoopback: allowInsecure, allowsPrivateNetwork: allowPrivateNetwork, timeoutMilliseconds: 2000)
    }
}

extension AccountsContext {
    /// What is wrong with a new password: by the rules, and if nothing is, by what has leaked, where the tenant wants that checked.
    ///
    /// What cannot be checked is taken, and leaves a record in the audit log.
    ///
    /// - Throws: `InvalidPassword` with every rule that it breaks.
    /// - Source: native-auth.md 1.7.
    func check(
        _ password: String, _ tenant: TenantRecord, context: ContextWords, isCurrent: Bool = false, of subject: String?, _ method: String,
        _ call: any CallContext
    ) throws {
        let failures = PasswordRules.failures(of: password, under: tenant.passwordPolicy, context: context, isCurrent: isCurrent)
        if !failures.isEmpty { throw InvalidPassword(reasons: failures) }
        guard let check = tenant.passwordPolicy.breached, let breachedPasswords else { return }
        switch try breachedPasswords.look(up: password, by: check, call) {
        case .notFound: return
        case .found:
            throw InvalidPassword(reasons: [
                PasswordFailure(rule: .breached, message: "It appears in a list of leaked passwords. Choose another one.")
            ])
        case .unavailable(let why):
            let event = AuditEvent(
                method, call, tenant: tenant.id, subject: subject, details: [("breachedPasswordCheck", why.auditName)])
            let now = clock.now
            try database.write { try audit.record(event, at: now, in: $0) }
        }
    }
}

extension BreachedPasswords.Unavailability {
    /// Without addresses.
    fileprivate var auditName: String {
        switch self {
        case .noAnswer: "unavailable"
        case .status(let status): "unavailable: status \(status)"
        case .malformed: "unavailable: malformed response"
        }
    }
}
