import Accounts
import Contract

/// Decides how to import a validated account, given the records in the store.
enum ImportRule {
    /// The stored records that affect the import.
    struct Facts: Equatable {
        struct Owner: Equatable {
            let id: String
            let tenantId: String
        }

        /// The existing account with the same ID.
        var owner: Owner?
        /// The ID of the account into which the account with this ID was merged.
        var survivorId: String?
        /// The ID of the account with the same address.
        var addressOwner: String?
        /// The ID of the account with the same phone number.
        var phoneOwner: String?
        /// The IDs of the accounts to which the logins are linked; `nil` for each unlinked login.
        var loginOwners: [String?] = []
        /// The IDs of the accounts that have the passkeys; `nil` for each new one.
        var passkeyOwners: [String?] = []
    }

    enum Decision: Equatable {
        case insert
        /// Replace the account with this ID.
        case replace(String)
        /// The account exists and is not changed.
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
        // A line without an ID is the account with its address, a login or, if it has neither, its phone number.
        let numberOwner = draft.account.username == nil && draft.logins.isEmpty ? facts.phoneOwner : nil
        let present = draft.hasOwnId ? facts.owner?.id : facts.addressOwner ?? facts.loginOwners.compactMap { $0 }.first ?? numberOwner
        if let present {
            if onExisting == .skip { return .skip }
            if onExisting == .fail {
                let message =
                    draft.hasOwnId
                    ? AccountExists(accountId: present).message
                    : "Account \(present) already has this email address, login or phone number. Remove the line, or set onExisting to replace or skip the account."
                return .refuse([Violation(pointer: draft.hasOwnId ? "/accountId" : "", rule: AccountExists.type, message: message)])
            }
        }
        if let owner = facts.addressOwner, owner != present {
            add(
                "/email", EmailAlreadyInUse(email: ""),
                "The email address belongs to account \(owner). Remove one of the two, or merge them.")
        }
        if let owner = facts.phoneOwner, owner != present {
            add(
                "/phoneNumber", PhoneNumberInUse(phoneNumber: ""),
                "The phone number belongs to account \(owner). Remove one of the two, or merge them.")
        }
        for (login, owner) in zip(draft.logins, facts.loginOwners) {
            guard let owner, owner != present else { continue }
            add(
                "/providers/\(login.place)", CredentialAlreadyInUse(providerId: "", pendingToken: ""),
                "This login of \(login.record.providerId) belongs to account \(owner). Remove one of the two, or merge them.")
        }
        for (place, owner) in facts.passkeyOwners.enumerated() {
            guard let owner, owner != present else { continue }
            violations.append(
                Violation(
                    pointer: "/passkeys/\(place)/credentialId", rule: "alreadyRegistered",
                    message: "This passkey belongs to account \(owner). Remove one of the two, or merge them."))
        }
        if !violations.isEmpty { return .refuse(violations) }
        return present.map { .replace($0) } ?? .insert
    }
}
