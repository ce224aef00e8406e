import Crypto
import Platform

/// A person or service in a message's header: an address, and the name shown for it.
public struct Mailbox: Hashable, Sendable {
    public var name: String?
    public var address: MailAddress

    public init(name: String? = nil, address: MailAddress) {
        self.name = name
        self.address = address
    }
}

/// A message from a machine to one person: a text, and the same in HTML if there is one.
///
/// Whatever stands in the texts, `encoded()` has the header fields listed here and no others.
public struct MailMessage: Sendable {
    public var from: Mailbox
    public var to: Mailbox
    public var replyTo: Mailbox?
    public var subject: String
    public var text: String
    public var html: String?
    /// Of subject and texts, a language tag such as `de-CH` (RFC 3282).
    public var language: String?
    /// Seconds since 1970.
    public var sentAt: Int64
    /// Names the message for ever: `random@domain` without angle brackets.
    public var messageId: String

    /// - Parameter random: where the message id comes from; its domain is the sender's.
    public init(
        from: Mailbox, to: Mailbox, replyTo: Mailbox? = nil, subject: String, text: String, html: String? = nil, language: String? = nil,
        sentAt: Int64, random: some RandomSource
    ) {
        self.from = from
        self.to = to
        self.replyTo = replyTo
        self.subject = subject
        self.text = text
        self.html = html
        self.language = language
        self.sentAt = sentAt
        messageId = "\(Hex.encode(random.bytes(16)))@\(from.address.domain)"
    }

    /// The message as it travels (RFC 5322, MIME): ASCII, lines of at most 78 bytes where a longer word does not force more, never above
    /// 998, ended by CR LF.
    ///
    /// `Auto-Submitted: auto-generated` (RFC 3834) keeps vacation notices from answering.
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
        // Neither encoding of a body can produce "=_" (RFC 2045 section 6.7, note), so this never ends a part early.
        let boundary = "=_alternative"
        header.add("Content-Type", ["multipart/alternative;", "boundary=\"\(boundary)\""])
        var bytes = header.bytes + crlf
        for part in [plain, BodyPart(html, subtype: "html")] { bytes += Array("--\(boundary)\r\n".utf8) + part.bytes + crlf }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }
}

let crlf: [UInt8] = [0x0d, 0x0a]
