import Contract
import Messages

/// Hands one message over where no code hangs on it; the codes of flows go by `CodeSending`, which counts them too.
struct MessageSending: Sendable {
    let surroundings: Surroundings

    /// Sends a message in the words of its tenant. In a testing store it stays in the outbox.
    ///
    /// - Throws: `MessageNotSent`.
    func send(_ purpose: MessagePurpose, to recipient: String, of tenant: TenantRecord) throws {
        let delivery = try tenant.settings.delivery?.opened(for: tenant.id, surroundings.vault)
        let message = OutgoingMessage(to: recipient, purpose, code: nil, tenant: tenant, delivery: delivery)
        if let carrier = surroundings.delivery.carrier { return try carrier.hand(over: message) }
        let now = surroundings.clock.now
        try surroundings.database.write { tx in
            try tx.lock(["outbox"])
            try tx.insert(message, at: now)
        }
    }
}
