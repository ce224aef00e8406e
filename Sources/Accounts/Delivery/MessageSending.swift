import Contract
import Messages

/// Hands one message over that counts against no limit; the codes of flows go by `CodeSending`, which counts them.
struct MessageSending: Sendable {
    let surroundings: AccountsContext

    /// Sends a message in the words of its tenant: a mail, or a text message through a webhook. In a testing store it stays in the outbox.
    ///
    /// - Parameters:
    ///   - code: nil in a message without one.
    ///   - lifetimeSeconds: how long the code is good.
    ///   - language: what its reader wants to read, as a language tag.
    ///   - notice: the facts of a notice about an account.
    /// - Throws: `MessageNotSent`.
    func send(
        _ purpose: MessagePurpose, to recipient: Recipient, code: String? = nil, lifetimeSeconds: Int64 = 0, language: String?,
        of tenant: TenantRecord, notice: NoticeFacts? = nil
    ) throws {
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, surroundings.vault)
        let message = OutgoingMessage(
            to: recipient, purpose, code: code, lifetimeSeconds: lifetimeSeconds, language: language, tenant: tenant, delivery: delivery,
            notice: notice)
        if let carrier = surroundings.carrier { return try carrier.hand(over: message) }
        let now = surroundings.clock.now
        try surroundings.database.write { tx in
            try tx.lock(["outbox"])
            try tx.insert(message, at: now)
        }
    }
}
