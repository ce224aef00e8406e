import Contract
import ServiceContext
import Storage

/// The table of messages that a testing store captures instead of sending.
package enum OutboxTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE outbox (
            number BIGINT PRIMARY KEY, tenant_id TEXT NOT NULL, recipient TEXT NOT NULL, channel TEXT NOT NULL, purpose TEXT NOT NULL,
            code TEXT, language TEXT NOT NULL, subject TEXT, text TEXT NOT NULL, html TEXT,
            sender TEXT, sent_at BIGINT NOT NULL)
        """
    ]
}

extension Transaction {
    /// Stores a message instead of sending it. The caller must hold the lock `outbox`.
    package func insert(_ message: OutgoingMessage, at now: Int64) throws {
        let (language, subject, text, html): (String, String?, String, String?)
        switch message.channel {
        case .email:
            let mail = message.mail
            (language, subject, text, html) = (mail.language, mail.1.subject, mail.1.text, mail.1.html)
        case .sms: (language, subject, text, html) = (message.textMessage.language, nil, message.textMessage.text, nil)
        }
        let sender = message.channel == .email ? message.delivery?.smtp?.from : nil
        // Numbers are never reused, even if messages are deleted.
        let number = (try storeFact("outbox.last").flatMap { Int64($0) } ?? 0) + 1
        try setStoreFact("outbox.last", String(number))
        try execute(
            """
            INSERT INTO outbox (number, tenant_id, recipient, channel, purpose, code, language, subject, text, sent_at, html, sender)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """, number, message.tenantId, message.to, message.channel.rawValue, message.purpose.rawValue, message.code, language, subject,
            text, now, html, sender)
    }

    package func outbox(to recipient: String?, after number: Int64, limit: Int) throws -> [SentMessage] {
        try query(
            """
            SELECT number, recipient, channel, purpose, code, language, subject, text, sent_at, tenant_id, html, sender FROM outbox
            WHERE number > $1 AND (CAST($2 AS TEXT) IS NULL OR LOWER(recipient) = LOWER($2)) ORDER BY number LIMIT $3
            """, number, recipient, limit
        ) { row in
            SentMessage(
                number: row.int(0), to: row.string(1), channel: Channel(rawValue: row.string(2)) ?? .email, purpose: row.string(3),
                code: row.optionalString(4), language: row.string(5), subject: row.optionalString(6), text: row.string(7),
                html: row.optionalString(10), from: row.optionalString(11), sentAt: row.int(8), tenantId: row.string(9))
        }
    }

    package func deleteFromOutbox(_ number: Int64) throws { try execute("DELETE FROM outbox WHERE number = $1", number) }
}
