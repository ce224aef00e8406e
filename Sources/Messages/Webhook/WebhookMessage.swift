import JSON

/// A message that somebody else is to send: a text message, or a mail by a mailer of one's own.
public struct WebhookMessage: Hashable, Sendable {
    public enum Channel: String, Hashable, Sendable { case sms, email }

    public var channel: Channel
    /// A telephone number or a mail address.
    public var to: String
    public var purpose: MessagePurpose
    public var tenantId: String
    /// The tag of the language that the words are in.
    public var language: String
    /// For a receiver that has words of its own.
    public var code: String?
    /// When the code stops being good, in seconds since 1970.
    public var expiresAt: Int64?
    /// Of a mail.
    public var subject: String?
    public var text: String
    /// Of a mail.
    public var html: String?

    public init(
        channel: Channel, to: String, purpose: MessagePurpose, tenantId: String, language: String, code: String? = nil,
        expiresAt: Int64? = nil, subject: String? = nil, text: String, html: String? = nil
    ) {
        self.channel = channel
        self.to = to
        self.purpose = purpose
        self.tenantId = tenantId
        self.language = language
        self.code = code
        self.expiresAt = expiresAt
        self.subject = subject
        self.text = text
        self.html = html
    }

    /// `{"type": "message.send", "channel", "to", …}`; what is nil is left out.
    public var json: JSONValue {
        var object: JSONObject = [
            "type": "message.send", "channel": .string(channel.rawValue), "to": .string(to), "purpose": .string(purpose.rawValue),
            "tenantId": .string(tenantId), "language": .string(language), "text": .string(text),
        ]
        for (name, value) in [("code", code), ("subject", subject), ("html", html)] { object[name] = value.map { .string($0) } }
        if let expiresAt { object["expiresAt"] = .number(JSONNumber(expiresAt)) }
        return .object(object)
    }
}
