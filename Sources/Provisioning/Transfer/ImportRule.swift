import Accounts
import Contract

/// What becomes of an account that is found right in itself, beside what there is in the store.
enum ImportRule {
    /// What the store knows.
    struct Facts: Equatable {
        struct Owner: Equatable {
            let id: String
            let tenantId: String
        }

        /// The account with its id.
        var owner: Owner?
        /// The account that its id was merged into.
        var survivorId: String?
        /// The account that has its address.
        var addressOwner: String?
        /// The accounts that its logins lead to; nil where a login leads nowhere.
        var loginOwners: [String?] = []
    }

    enum Decision: Equatable {
        case insert
        /// The account with this id becomes what is imported.
        case replace(String)
        /// It is there, and stays as it is.
        case skip
        case refuse([Violation])

        var writes: Bool {
            switch self {
            case .insert, .replace: true
            case .skip, .refuse: false
            }
        }
    }

    static func decide(_ draft: ImportDraft, _ facts: Facts, _ onExisting: AccountImport.Params.OnExisting) -> Decision {
        var violations: [Violation] = []
        func add(_ pointer: String, _ error: some ContractError, _ message: String) {
            violations.append(Violation(pointer: pointer, rule: type(of: error).type, message: message))
        }
        let id = draft.account.id
        if let owner = facts.owner, owner.tenantId != draft.account.tenantId {
            let error = AccountExists(accountId: id)
            return .refuse([
                Violation(pointer: "/accountId", rule: AccountExists.type, message: "\(error.message) It belongs to another tenant.")
            ])
        }
        if let survivorId = facts.survivorId {
            let message = "Account \(id) was merged into \(survivorId). Its ID can no longer be used."
            return .refuse([Violation(pointer: "/accountId", rule: AccountMerged.type, message: message)])
        }
        let present = draft.hasOwnId ? facts.owner?.id : facts.addressOwner ?? facts.loginOwners.compactMap { $0 }.first
        if let present {
            if onExisting == .skip { return .skip }
            if onExisting == .fail {
                let message =
                    draft.hasOwnId
                    ? AccountExists(accountId: present).message
                    : "Account \(present) already has this email address or login. Remove the line, or set onExisting to replace or skip the account."
                return .refuse([Violation(pointer: draft.hasOwnId ? "/accountId" : "", rule: AccountExists.type, message: message)])
            }
        }
        if let owner = facts.addressOwner, owner != present {
            add(
                "/email", EmailAlreadyInUse(email: ""),
                "The email address belongs to account \(owner). Remove one of the two, or merge them.")
        }
        for (login, owner) in zip(draft.logins, facts.loginOwners) {
            guard let owner, owner != present else { continue }
            add(
                "/providers/\(login.place)", CredentialAlreadyInUse(providerId: "", pendingToken: ""),
                "This login of \(login.record.providerId) belongs to account \(owner). Remove one of the two, or merge them.")
        }
        if !violations.isEmpty { return .refuse(violations) }
        return present.map { .replace($0) } ?? .insert
    }
}
