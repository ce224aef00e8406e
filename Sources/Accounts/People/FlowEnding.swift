import Contract
import Storage

/// How a flow ended before its time. It is kept until the flow would have ended anyway, so that whoever asks again is told once more.
extension Flow {
    package enum Ending: String, Sendable {
        /// What it was for is done, and answered with tokens.
        case finished
        /// Somebody else has the address.
        case addressTaken
        /// The password was right and must be changed.
        case passwordChangeRequired
        /// Password or address of its account were changed meanwhile, or the account has none such any more.
        case accountChanged
        case accountDeleted, tenantDeleted

        /// The ending that an error is told again by; nil for one that is not.
        init?(_ error: any ContractError) {
            switch error {
            case is UserAlreadyExists: self = .addressTaken
            case is PasswordChangeRequired: self = .passwordChangeRequired
            case let ended as FlowEnded: self.init(rawValue: ended.cause.rawValue)
            default: return nil
            }
        }
    }

    /// What a flow that has ended answers, whatever it is asked.
    ///
    /// - Throws: `FlowFinished`, `UserAlreadyExists`, `PasswordChangeRequired`, `FlowEnded`.
    func requireGoing() throws {
        switch ending {
        case nil: return
        case .finished: throw FlowFinished()
        case .addressTaken: throw kind == .signUp ? UserAlreadyExists(next: "signIn.start") : UserAlreadyExists.ofAnother
        case .passwordChangeRequired: throw PasswordChangeRequired(next: "passwordReset.start")
        case .accountChanged: throw FlowEnded(.accountChanged)
        case .accountDeleted: throw FlowEnded(.accountDeleted)
        case .tenantDeleted: throw FlowEnded(.tenantDeleted)
        }
    }

    /// Ends it: what it held of a person goes with it.
    mutating func end(_ ending: Ending) {
        self.ending = ending
        password = nil
        attributes = [:]
        code.mac = nil
    }
}

extension FlowEnded {
    init(_ cause: Cause) {
        let reason =
            switch cause {
            case .accountChanged:
                "the password, email address or second factors of the account changed, which ends all pending flows of the account"
            case .accountDeleted: "its account was deleted"
            case .tenantDeleted: "its tenant was deleted"
            }
        self.init(cause: cause, reason: reason)
    }
}

extension UserAlreadyExists {
    /// For an account that is to have an address: its owner is signed in, and has to choose another.
    static let ofAnother = UserAlreadyExists(next: "account.changeEmail", hint: "using another email address")
}

extension Transaction {
    /// Why a flow whose account does not have its address any more has ended.
    func ending(of flow: Flow) throws -> FlowEnded { FlowEnded(try account(flow.accountId) == nil ? .accountDeleted : .accountChanged) }

    /// Ends what is under way for an account, but for one flow.
    package func endFlows(of accountId: String, except id: String = "", _ ending: Flow.Ending = .accountChanged) throws {
        try execute(
            """
            UPDATE flow SET ending = $3, password = NULL, attributes = '{}', code = NULL
            WHERE account_id = $1 AND id <> $2 AND ending IS NULL
            """, accountId, id, ending.rawValue)
    }

    /// Ends the changes of address that are under way for an account, except one flow.
    func endEmailChanges(of accountId: String, except id: String) throws {
        try execute(
            """
            UPDATE flow SET ending = $3, password = NULL, attributes = '{}', code = NULL
            WHERE account_id = $1 AND id <> $2 AND kind = 'emailChange' AND ending IS NULL
            """, accountId, id, Flow.Ending.accountChanged.rawValue)
    }

    /// Makes flows of an account lead nowhere without saying so, where nobody is to learn that there was one.
    func hideFlows(of accountId: String) throws {
        try execute(
            """
            UPDATE flow SET is_decoy = TRUE, code = NULL WHERE account_id = $1 AND NOT is_verified AND ending IS NULL
            """, accountId)
    }

    /// Ends what is under way in a tenant.
    func endFlows(ofTenant tenantId: String) throws {
        try execute(
            """
            UPDATE flow SET ending = $2, password = NULL, attributes = '{}', code = NULL WHERE tenant_id = $1 AND ending IS NULL
            """, tenantId, Flow.Ending.tenantDeleted.rawValue)
    }
}
