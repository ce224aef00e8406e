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
    /// - Parameter language: The language of the user, as a language tag.
    /// - Throws: `MessageNotSent`.
    func send(_ content: MessageContent, to recipient: Recipient, language: String?, of tenant: TenantRecord) throws {
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, context.vault)
        try send(OutgoingMessage(content, to: recipient, language: language, tenant: tenant, delivery: delivery))
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
