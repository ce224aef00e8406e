import JSON

/// A message that an external service sends: a text message, or an email if the tenant uses its own email service.
public struct WebhookMessage: Hashable, Sendable {
    public enum Channel: String, Hashable, Sendable { case sms, email }

    public var channel: Channel
    /// The phone number or email address.
    public var to: String
    public var purpose: MessagePurpose
    public var tenantId: String
    /// The tag of the language of the texts.
    public var language: String
    /// The code, for a receiver that uses its own texts.
    public var code: String?
    /// The time at which the code expires, in seconds since 1970.
    public var expiresAt: Int64?
    /// The subject of an email.
    public var subject: String?
    public var text: String
    /// The HTML text of an email.
    public var html: String?
    /// The link in the message, for a receiver that uses its own texts.
    public var link: String?

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

    /// The JSON form: `{"type": "message.send", "channel", "to", …}`. Members that are `nil` are omitted.
    public var json: JSONValue {
        var object: JSONObject = [
            "type": "message.send", "channel": .string(channel.rawValue), "to": .string(to), "purpose": .string(purpose.rawValue),
            "tenantId": .string(tenantId), "language": .string(language), "text": .string(text),
        ]
        for (name, value) in [("code", code), ("link", link), ("subject", subject), ("html", html)] {
            object[name] = value.map { .string($0) }
        }
        if let expiresAt { object["expiresAt"] = .number(JSONNumber(expiresAt)) }
        return .object(object)
    }
}
