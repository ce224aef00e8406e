import Contract
import Messages

/// Sends single messages without any limit. `CodeSending` sends the codes of flows, with limits.
struct MessageSending: Sendable {
    let context: AccountsContext

    /// Sends an email with a link for an action.
    ///
    /// - Throws: `MessageNotSent`.
    func send(_ action: ActionMessage, language: String?, of tenant: TenantRecord) throws {
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, context.vault)
        try send(OutgoingMessage(action, language: language, tenant: tenant, delivery: delivery))
    }

    /// Sends an email or a text message with the tenant's templates. In a testing store, stores it in the outbox instead.
    ///
    /// - Parameters:
    ///   - code: The code, or `nil` for a message without one.
    ///   - lifetimeSeconds: The lifetime of the code, in seconds.
    ///   - language: The language of the user, as a language tag.
    ///   - notice: The facts of a notice about an account.
    /// - Throws: `MessageNotSent`.
    func send(
        _ purpose: MessagePurpose, to recipient: Recipient, code: String? = nil, lifetimeSeconds: Int64 = 0, language: String?,
        of tenant: TenantRecord, notice: NoticeFacts? = nil
    ) throws {
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, context.vault)
        try send(
            OutgoingMessage(
                to: recipient, purpose, code: code, lifetimeSeconds: lifetimeSeconds, language: language, tenant: tenant,
                delivery: delivery, notice: notice))
    }

    private func send(_ message: OutgoingMessage) throws {
        if let carrier = context.carrier { return try carrier.hand(over: message) }
        let now = context.clock.now
        try context.database.write { tx in
            try tx.lock(["outbox"])
            try tx.insert(message, at: now)
        }
    }
}
