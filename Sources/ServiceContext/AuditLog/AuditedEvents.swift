import Contract
import JSON

extension SecurityEventDraft {
    /// Details that mark a record of the audit log that is not a change: a refusal, a notice that was not sent, and a failed check.
    private static let noChange = ["refused", "notice", "breachedPasswordCheck"]

    private static let accountMethods: Set = [
        "account.updateOwn", "account.setClaims", "account.changePassword", "account.setOwnPassword",
        "account.submitCode", "passwordReset.submitPassword", "mfa.confirm", "mfa.withdraw", "mfa.recoveryCodes",
        "passkey.finishRegistration", "passkey.delete", "oob.apply",
    ]

    /// Returns the events of a change, from its record in the audit log.
    ///
    /// - Parameter emptied: The accounts all of whose sessions the transaction has ended.
    package static func drafts(of change: AuditEvent, emptied: [String] = []) -> [SecurityEventDraft] {
        guard !noChange.contains(where: { change.details[$0] != nil }) else { return [] }
        var drafts = ofSubject(change).map { [$0] } ?? []
        drafts += ofLogins(change)
        let told = drafts.filter { $0.type == .sessionEnded }.compactMap { $0.members["accountId"]?.string }
        for account in emptied where !told.contains(account) {
            var ended = SecurityEventDraft(.sessionEnded, of: change)
            ended.members["accountId"] = .string(account)
            drafts.append(ended)
        }
        return drafts
    }

    private init(_ type: EventType, of change: AuditEvent) {
        self.init(type, by: change.method)
        members["tenantId"] = change.details["tenantId"]
        members["poolId"] = change.poolId.map { .string($0) }
        members["identityId"] = change.identityId.map { .string($0) }
    }

    /// Returns the event of the account, key or credentials that the record names as its subject.
    private static func ofSubject(_ change: AuditEvent) -> SecurityEventDraft? {
        func draft(_ type: EventType, _ name: String, _ more: String...) -> SecurityEventDraft {
            var draft = SecurityEventDraft(type, of: change)
            draft.members[name] = change.subject.map { .string($0) }
            for name in more { draft.members[name] = change.details[name] }
            return draft
        }
        switch change.method {
        case "key.rotate": return draft(.keysRotated, "kid")
        case "key.revoke": return draft(.keyRevoked, "kid")
        case "credentials.revoke": return draft(.credentialsRevoked, "subject", "issuedBefore")
        case "session.signOut", "session.revoke", "session.revokeAll": return draft(.sessionEnded, "accountId", "sessionId")
        case "session.refresh" where change.details["outcome"] != nil: return draft(.sessionEnded, "accountId", "sessionId")
        case "account.delete", "account.deleteOwn": return draft(.accountDeleted, "accountId")
        case let method where accountMethods.contains(method) || change.details["disabledBy"] != nil:
            return draft(.accountChanged, "accountId")
        default: return nil
        }
    }

    /// Returns the events of logins that were added, removed or merged.
    private static func ofLogins(_ change: AuditEvent) -> [SecurityEventDraft] {
        let isOfAccount = change.details["tenantId"] != nil
        func draft(_ type: EventType, _ list: String, _ value: JSONValue?) -> SecurityEventDraft? {
            guard let value else { return nil }
            var draft = SecurityEventDraft(type, of: change)
            if isOfAccount { draft.members["accountId"] = change.subject.map { .string($0) } }
            draft.members[list] = value.array == nil ? .array([value]) : value
            return draft
        }
        let details = change.details
        // The first login of a new identity or account is not a link.
        let isNew = details["isNewIdentity"] == .bool(true)
        let unlinked = change.method == "account.unlink" ? details["providerId"] : details["unlinked"]
        let absorbed = change.method == "account.merge" ? details["absorbed"] : details["merged"]
        return [
            isNew ? nil : draft(.linked, "providers", details["linked"]), draft(.unlinked, "providers", unlinked),
            draft(.merged, "absorbed", absorbed),
        ].compactMap { $0 }
    }
}
