import Contract
import Storage

/// The reasons a flow ends early. An ended flow is stored until it would have expired, so that later requests get the same error.
extension Flow {
    package enum ExitStatus: String, Sendable {
        /// The flow is complete, and its response contained tokens.
        case finished
        /// Another account has the address.
        case addressTaken
        /// The password was correct but must be changed.
        case passwordChangeRequired
        /// The password, address or factors of the account changed, or the account no longer has the required sign-in method.
        case accountChanged
        case accountDeleted, tenantDeleted
        /// All sessions of the account or tenant were revoked while the flow only waited to return its tokens.
        case sessionsRevoked

        /// The ending that reproduces an error in later requests; `nil` if the error has none.
        init?(_ error: any ContractError) {
            switch error {
            case is UserAlreadyExists: self = .addressTaken
            case is PasswordChangeRequired: self = .passwordChangeRequired
            case let ended as FlowEnded: self.init(rawValue: ended.cause.rawValue)
            default: return nil
            }
        }
    }

    /// Throws the error of a flow that has ended.
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
        case .sessionsRevoked: throw FlowEnded(.sessionsRevoked)
        }
    }

    /// Ends the flow and deletes its personal data.
    mutating func end(_ ending: ExitStatus) {
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
            case .applicationDeleted: "the application that started it was deleted"
            case .sessionsRevoked: "all sessions of the account were revoked, which includes sign-ins whose tokens were not fetched yet"
            }
        self.init(cause: cause, reason: reason)
    }
}

extension UserAlreadyExists {
    /// The error for a signed-in user who must choose another email address.
    static let ofAnother = UserAlreadyExists(next: "account.changeEmail", hint: "using another email address")
}

extension Transaction {
    /// Returns the reason a flow ended if its address no longer belongs to its account.
    func ending(of flow: Flow) throws -> FlowEnded { FlowEnded(try account(flow.accountId) == nil ? .accountDeleted : .accountChanged) }

    /// Ends the pending flows of an account, except one, and the links that set its password or change its address: they may have been
    /// requested by a user who has lost access since.
    package func endFlows(of accountId: String, except id: String = "", _ ending: Flow.ExitStatus = .accountChanged) throws {
        try deleteActionCodes(of: accountId, .passwordReset)
        try deleteActionCodes(of: accountId, .changeEmail)
        try execute(
            """
            UPDATE flow SET ending = $3, password = NULL, attributes = '{}', code = NULL
            WHERE account_id = $1 AND id <> $2 AND ending IS NULL
            """, accountId, id, ending.rawValue)
    }

    /// Ends the flows of an account that only wait to return tokens, because their continuation tokens could still begin a session.
    ///
    /// - Parameter moment: Flows whose last step was at this time or later are kept.
    func endCompletedFlows(of accountId: String, before moment: Int64 = .max) throws {
        try execute(
            """
            UPDATE flow SET ending = $3, password = NULL, attributes = '{}', code = NULL
            WHERE account_id = $1 AND stage = 'completed' AND ending IS NULL AND requested_at < $2
            """, accountId, moment, Flow.ExitStatus.sessionsRevoked.rawValue)
    }

    /// Ends the flows of a tenant that only wait to return tokens.
    func endCompletedFlows(ofTenant tenantId: String) throws {
        try execute(
            """
            UPDATE flow SET ending = $2, password = NULL, attributes = '{}', code = NULL
            WHERE tenant_id = $1 AND stage = 'completed' AND ending IS NULL
            """, tenantId, Flow.ExitStatus.sessionsRevoked.rawValue)
    }

    /// Ends the pending email changes of an account, except one flow, and the links that change its address.
    func endEmailChanges(of accountId: String, except id: String) throws {
        try deleteActionCodes(of: accountId, .changeEmail)
        try execute(
            """
            UPDATE flow SET ending = $3, password = NULL, attributes = '{}', code = NULL
            WHERE account_id = $1 AND id <> $2 AND kind = 'emailChange' AND ending IS NULL
            """, accountId, id, Flow.ExitStatus.accountChanged.rawValue)
    }

    /// Turns the unverified flows of an account into decoys, so that they fail without revealing that the account existed.
    func hideFlows(of accountId: String) throws {
        try execute(
            """
            UPDATE flow SET is_decoy = TRUE, code = NULL WHERE account_id = $1 AND NOT is_verified AND ending IS NULL
            """, accountId)
    }

    /// Ends the pending flows of a tenant.
    func endFlows(ofTenant tenantId: String) throws {
        try execute(
            """
            UPDATE flow SET ending = $2, password = NULL, attributes = '{}', code = NULL WHERE tenant_id = $1 AND ending IS NULL
            """, tenantId, Flow.ExitStatus.tenantDeleted.rawValue)
    }
}
