import Contract
import Crypto
import JSON
import Messages
import Platform
import ServiceContext
import Storage
import Synchronization

/// A change to an account, about which its user is notified.
struct AccountChange {
    let account: AccountRecord
    let tenant: TenantRecord
    /// The language tag of the flow that makes the change.
    let language: String?
    let method: String
    let now: Int64

    init(_ account: AccountRecord, _ tenant: TenantRecord, language: String? = nil, by method: String, at now: Int64) {
        self.account = account
        self.tenant = tenant
        self.language = language
        self.method = method
        self.now = now
    }
}

extension AccountsContext {
    /// Queues a notice to the verified address of an account, in the transaction of the change.
    ///
    /// - Parameters:
    ///   - address: The address, if it differs from the account's verified one.
    ///   - what: The name of the factor or provider, or a number.
    func notify(
        _ purpose: MessagePurpose, _ change: AccountChange, to address: String? = nil, what: String = "", in tx: Transaction
    ) throws {
        let (account, tenant, now) = (change.account, change.tenant, change.now)
        guard tenant.settings.notices == .credentials, let address = address ?? (account.isEmailVerified ? account.email : nil),
            let purpose = NoticeRule.purpose(purpose, number: try tx.countNotice(of: account.id, at: now))
        else { return }
        let notice = Notice(purpose, to: address, what: what, language: change.language, accountId: account.id, method: change.method)
        guard delivery.carries(.email, for: tenant.settings.delivery) else {
            return try recordUnsent(notice, tenant.id, "no mail server or webhook is configured", at: now, in: tx)
        }
        let id = newNoticeId(at: now)
        try tx.insert(
            QueuedNotice(
                id: id, tenantId: tenant.id, content: notice.sealed(as: id, vault), attempts: 0, madeAt: now, dueAt: now))
        tx.needsFollowUp = true
    }

    /// Queues the notice to the previous address of an account. If the tenant has a page for links, the notice contains a link that
    /// undoes the change.
    func notifyOfChange(from previous: String, _ change: AccountChange, in tx: Transaction) throws {
        let (account, tenant, now) = (change.account, change.tenant, change.now)
        guard tenant.settings.notices == .credentials, let page = tenant.settings.delivery?.linkUrl else {
            return try notify(.addressChanged, change, to: previous, in: tx)
        }
        let code = ActionCodeRecord.newCode(random)
        let record = ActionCodeRecord(
            tenantId: tenant.id, purpose: .revertEmail, email: Username.fold(previous), newEmail: nil, accountId: account.id,
            createdAt: now, expiresAt: now + ActionCodePurpose.revertEmail.lifetimeSeconds)
        try tx.insert(record, code: code)
        let link = ActionLink.url(page: page, .revertEmail, code: code, tenantId: tenant.id)
        try notify(.addressChangedLink, change, to: previous, what: link, in: tx)
    }

    private func recordUnsent(_ notice: Notice, _ tenantId: String, _ reason: String, at now: Int64, in tx: Transaction) throws {
        var event = AuditEvent(method: notice.method, subject: notice.accountId, details: ["tenantId": .string(tenantId)])
        event.details["notice"] = "noticeNotSent"
        event.details["purpose"] = .string(notice.purpose.rawValue)
        event.details["reason"] = .string(reason)
        try audit.record(event, at: now, in: tx)
    }

    /// Sends notices after the commit of each transaction that queues one. Called once, after the context was created.
    public func sendNoticesAfterCommits() { notices.whenCommitted { [weak self] in self?.sendNotices() } }

    /// Sends the due notices: immediately in a testing store, otherwise on a thread.
    public func sendNotices() {
        if isTesting { return sendDueNotices() }
        notices.start { [weak self] in
            guard let self else { return }
            sendDueNotices()
            awaitNextNotice()
        }
    }

    /// Sets a timer for the next due notice.
    private func awaitNextNotice() {
        guard let due = try? driver.read({ try $0.nextNoticeDue() }), notices.takeAlarm() else { return }
        let seconds = min(max(1, due - clock.now), NoticeRule.longestPauseSeconds)
        alarms.after(nanoseconds: UInt64(seconds) * 1_000_000_000) { [weak self] in
            guard let self else { return }
            notices.dropAlarm()
            sendNotices()
        }
    }

    /// Sends the due notices in sequence. Stops if the store cannot be read or written; a later call continues.
    public func sendDueNotices() {
        while let (queued, isLast) = try? claimNotice() {
            do { try send(queued) } catch { try? postpone(queued, isLast: isLast, because: error) }
        }
    }

    /// Claims a due notice, so that no other process sends it.
    ///
    /// - Returns: The notice, and whether this is its last attempt; `nil` if no notice is due.
    private func claimNotice() throws -> (QueuedNotice, isLast: Bool)? {
        while true {
            let now = clock.now
            guard let due = try driver.read({ try $0.dueNotice(at: now) }) else { return nil }
            let claimedUntil = now + NoticeRule.claimSeconds
            guard try driver.write({ try $0.postpone(due, until: claimedUntil, attempts: due.attempts + 1) }) else { continue }
            let claimed = QueuedNotice(
                id: due.id, tenantId: due.tenantId, content: due.content, attempts: due.attempts + 1, madeAt: due.madeAt,
                dueAt: claimedUntil)
            return (claimed, NoticeRule.isOver(madeAt: due.madeAt, at: now))
        }
    }

    private func send(_ queued: QueuedNotice) throws {
        // If the tenant was deleted, drop the notice.
        if let tenant = try driver.read({ try $0.tenant(queued.tenantId) }) {
            let notice = try Notice(queued, vault)
            try MessageSending(context: self).send(
                MessageContent(
                    purpose: notice.purpose, notice: NoticeFacts(id: queued.id, at: queued.madeAt, what: notice.what)),
                to: .email(notice.to), language: notice.language, of: tenant)
        }
        try driver.write { try $0.deleteNotice(queued.id) }
    }

    private func postpone(_ queued: QueuedNotice, isLast: Bool, because error: any Error) throws {
        let now = clock.now
        try driver.write { tx in
            guard isLast else {
                _ = try tx.postpone(queued, until: now + NoticeRule.pauseSeconds(afterAttempts: queued.attempts), attempts: queued.attempts)
                return
            }
            try tx.deleteNotice(queued.id)
            let reason = (error as? MessageNotSent)?.reason ?? "it cannot be read"
            let notice =
                (try? Notice(queued, vault)) ?? Notice(.noticesPaused, to: "", what: "", language: nil, accountId: "", method: "notice")
            try recordUnsent(notice, queued.tenantId, reason, at: now, in: tx)
        }
    }
}

extension FactorRecord {
    /// The name of the factor in a notice: its display name, or a description of its kind.
    var noticeName: String {
        if let displayName { return displayName }
        return switch kind {
        case .totp: "authenticator app"
        case .email: "codes by email"
        case .sms: "codes by text message"
        case .passkey: "passkey"
        }
    }
}
