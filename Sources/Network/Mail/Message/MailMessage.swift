import Crypto
import Platform

/// A sender or recipient in a message's header: an address and its display name.
public struct Mailbox: Hashable, Sendable {
    public var name: String?
    public var address: MailAddress

    public init(name: String? = nil, address: MailAddress) {
        self.name = name
        self.address = address
    }
}

/// An automated message to one recipient: a plain text and optionally the same text in HTML.
///
/// Whatever the texts contain, the result of `encoded()` has only the header fields listed here.
public struct MailMessage: Sendable {
    public var from: Mailbox
    public var to: Mailbox
    public var replyTo: Mailbox?
    public var subject: String
    public var text: String
    public var html: String?
    /// The language tag of the subject and texts, such as `de-CH` (RFC 3282).
    public var language: String?
    /// The time in seconds since 1970.
    public var sentAt: Int64
    /// The unique ID of the message: `random@domain` without angle brackets.
    public var messageId: String

    public init(
        from: Mailbox, to: Mailbox, replyTo: Mailbox? = nil, subject: String, text: String, html: String? = nil, language: String? = nil,
        sentAt: Int64, messageId: String
    ) {
        self.from = from
        self.to = to
        self.replyTo = replyTo
        self.subject = subject
        self.text = text
        self.html = html
        self.language = language
        self.sentAt = sentAt
        self.messageId = messageId
    }

    /// Returns a new message ID. Its domain is that of the sender.
    public static func newId(from sender: Mailbox, random: some RandomSource) -> String {
        "\(Hex.encode(random.bytes(16)))@\(sender.address.domain)"
    }

    /// Returns the encoded message (RFC 5322, MIME): ASCII, lines that end with CR LF and have at most 78 bytes, unless a longer word
    /// requires more, and never more than 998.
    ///
    /// `Auto-Submitted: auto-generated` (RFC 3834) prevents automatic replies.
    public func encoded() -> [UInt8] {
        var header = HeaderText()
        header.add("Date", [MailDate.text(of: sentAt)])
        header.add("From", mailbox: from)
        header.add("To", mailbox: to)
        if let replyTo { header.add("Reply-To", mailbox: replyTo) }
        header.add("Subject", text: subject)
        header.add("Message-ID", ["<\(messageId.filter { $0.isASCII && !$0.isWhitespace && !"<>".contains($0) })>"])
        header.add("Auto-Submitted", ["auto-generated"])
        if let language, language.utf8.allSatisfy({ $0 < 0x80 }), language.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }) {
            header.add("Content-Language", [language])
        }
        header.add("MIME-Version", ["1.0"])
        let plain = BodyPart(text, subtype: "plain")
        guard let html else { return header.bytes + plain.bytes }
        // Neither encoding of a body can produce "=_" (RFC 2045 section 6.7, note), so the boundary never occurs in a part.
        let boundary = "=_alternative"
        header.add("Content-Type", ["multipart/alternative;", "boundary=\"\(boundary)\""])
        var bytes = header.bytes + crlf
        for part in [plain, BodyPart(html, subtype: "html")] { bytes += Array("--\(boundary)\r\n".utf8) + part.bytes + crlf }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }
}

let crlf: [UInt8] = [0x0d, 0x0a]
