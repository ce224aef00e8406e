/// What a mail server answered to a command: `550 5.1.1 …` (RFC 5321 section 4.2, RFC 3463).
public struct SMTPReply: Hashable, Sendable, CustomStringConvertible {
    /// 4xx for now, 5xx for good.
    public let code: Int
    /// Such as `5.1.1`, if the server says so.
    public let enhancedStatus: String?
    /// The server's words, in printable ASCII, at most 200 characters, without mail addresses.
    public let text: String

    /// Whether the server invites to try again later.
    public var isTemporary: Bool { (400...499).contains(code) }

    public var description: String { ["\(code)", enhancedStatus, text.isEmpty ? nil : text].compactMap(\.self).joined(separator: " ") }
}

/// Why a message was not handed over. Its sentence is for people; it holds neither passwords nor mail addresses.
public struct MailFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        /// libcurl cannot be loaded; the text is the loader's.
        case libraryMissing(String)
        /// libcurl is too old or built without what is needed; the text is its own.
        case notSupported(String)
        /// The host has no address.
        case unresolvable
        /// The host's address is none that mail is sent to: link-local, multicast, or not loopback where nothing is encrypted.
        case addressRefused
        /// No connection.
        case unreachable
        /// No answer in time. `mayHaveArrived` when the whole message was on its way.
        case timedOut(milliseconds: Int, mayHaveArrived: Bool)
        /// The server's certificate was refused; the text says why.
        case certificate(String)
        /// `--ca-file` cannot be read as PEM certificates.
        case unreadableCertificateFile
        /// The server offers no STARTTLS, or refuses it. Nothing was said unencrypted.
        case encryptionNotOffered
        /// The server wants STARTTLS first, and was spoken to without.
        case encryptionRequired(SMTPReply)
        /// No encrypted connection came about; the text says why.
        case encryption(String)
        /// The server does not take anybody, at its greeting or EHLO.
        case serverRefused(SMTPReply?)
        /// User and password were refused, or no allowed mechanism is offered. The server's words are withheld.
        case loginRefused(code: Int?)
        /// The server wants a user and password first.
        case loginRequired(SMTPReply)
        /// The sender's address was refused.
        case senderRefused(SMTPReply)
        /// The recipient's address was refused.
        case recipientRefused(SMTPReply)
        /// The message was refused.
        case messageRefused(SMTPReply)
        /// The connection ended early. `mayHaveArrived` when the whole message was on its way.
        case interrupted(mayHaveArrived: Bool)
        /// What came is no SMTP; the text is libcurl's.
        case protocolError(String)
        /// `isCancelled` said so.
        case cancelled
    }

    public let reason: Reason
    /// Where the message went: scheme, host and port.
    public let origin: String

    public init(_ reason: Reason, at origin: String) {
        self.reason = reason
        self.origin = origin
    }

    /// Whether the server may have taken the message, and nobody knows.
    public var mayHaveArrived: Bool {
        switch reason {
        case .timedOut(_, let mayHaveArrived), .interrupted(let mayHaveArrived): mayHaveArrived
        case .protocolError, .cancelled: true
        default: false
        }
    }

    /// Whether the same message may be taken a little later. False also means: somebody has to change something.
    public var isRetryable: Bool {
        switch reason {
        case .unresolvable, .unreachable, .timedOut, .interrupted, .protocolError: true
        case .serverRefused(let reply): reply?.isTemporary ?? true
        case .loginRefused(let code): code.map { (400...499).contains($0) } ?? false
        case .loginRequired(let reply), .senderRefused(let reply), .recipientRefused(let reply), .messageRefused(let reply):
            reply.isTemporary
        default: false
        }
    }

    /// Whether the recipient's address is what is wrong, and for good: another address is needed.
    public var isRecipientAtFault: Bool {
        if case .recipientRefused(let reply) = reason { !reply.isTemporary } else { false }
    }
}

extension MailFailure {
    public var description: String {
        switch reason {
        case .libraryMissing(let why): "libcurl cannot be loaded (\(why)). Install it: apt-get install libcurl4"
        case .notSupported(let why): "This libcurl cannot send emails: \(why)."
        case .unresolvable: "The host name of \(origin) cannot be resolved. Check its spelling, and the name resolution of this machine."
        case .addressRefused:
            "\(origin) has an address to which emails are not sent: a link-local or reserved address, or, without encryption, an address other than loopback."
        case .unreachable: "\(origin) does not accept connections. Check that it is running and not blocked by a firewall."
        case .timedOut(let milliseconds, true): "\(origin) did not respond within \(Self.span(milliseconds)).\(Self.doubt)"
        case .timedOut(let milliseconds, false) where origin.hasPrefix("smtp://"):
            "\(origin) did not respond within \(Self.span(milliseconds)). If its port is encrypted from the first byte, such as 465, use smtps://, or set encryption to implicit."
        case .timedOut(let milliseconds, false): "\(origin) did not respond within \(Self.span(milliseconds))."
        case .certificate(let why):
            "The certificate of \(origin) is not trusted: \(why). To add a private certificate authority, use --ca-file."
        case .unreadableCertificateFile: "The file in --ca-file does not exist or contains no PEM certificates."
        case .encryptionNotOffered:
            "\(origin) does not support STARTTLS, so nothing was sent. If its port is encrypted from the first byte, use smtps://."
        case .encryptionRequired(let reply):
            "\(origin) requires encryption\(Self.saying(reply)) Use STARTTLS: omit --smtp-unencrypted, or set encryption to startTLS."
        case .encryption(let why): "An encrypted connection to \(origin) could not be established: \(why)."
        case .serverRefused(let reply): "\(origin) does not accept emails from this client\(Self.saying(reply))"
        case .loginRefused(let code):
            "\(origin) rejected the user name and password\(code.map { " with \($0)" } ?? ": it supports no allowed login mechanism")."
        case .loginRequired(let reply): "\(origin) requires a user name and password\(Self.saying(reply))"
        case .senderRefused(let reply): "\(origin) rejected the sender's address\(Self.saying(reply))"
        case .recipientRefused(let reply): "\(origin) rejected the recipient's address\(Self.saying(reply))"
        case .messageRefused(let reply): "\(origin) rejected the message\(Self.saying(reply))"
        case .interrupted(let mayHaveArrived): "\(origin) closed the connection.\(mayHaveArrived ? Self.doubt : "")"
        case .protocolError(let why): "The response of \(origin) is not valid SMTP: \(why)."
        case .cancelled: "Sending through \(origin) was canceled."
        }
    }

    private static func span(_ milliseconds: Int) -> String {
        milliseconds < 1_000 ? "\(milliseconds) ms" : "\((milliseconds + 999) / 1_000) s"
    }

    private static let doubt = " The message may have been delivered."

    private static func saying(_ reply: SMTPReply?) -> String { reply.map { ": \"\($0)\"." } ?? "." }
}
