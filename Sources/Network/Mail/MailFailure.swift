/// The reply of an SMTP server to a command: `550 5.1.1 …` (RFC 5321 section 4.2, RFC 3463).
public struct SMTPReply: Hashable, Sendable, CustomStringConvertible {
    /// The reply code: 4xx for a temporary failure, 5xx for a permanent one.
    public let code: Int
    /// The enhanced status code, such as `5.1.1`, if the server sends one.
    public let enhancedStatus: String?
    /// The text of the reply in printable ASCII, at most 200 characters, without email addresses.
    public let text: String

    /// Whether the failure is temporary.
    public var isTemporary: Bool { (400...499).contains(code) }

    public var description: String { ["\(code)", enhancedStatus, text.isEmpty ? nil : text].compactMap(\.self).joined(separator: " ") }
}

/// The reason a message was not submitted. The description is a sentence for the user and contains neither passwords nor email addresses.
public struct MailFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        /// libcurl cannot be loaded; the text is the loader's message.
        case libraryMissing(String)
        /// libcurl is too old or was built without a required feature; the text is libcurl's message.
        case notSupported(String)
        /// The host name cannot be resolved.
        case unresolvable
        /// The address of the host is not allowed: link-local, multicast, or not loopback without encryption.
        case addressRefused
        /// The connection failed.
        case unreachable
        /// The server did not respond in time. `mayHaveArrived` is true if the whole message had been sent.
        case timedOut(milliseconds: Int, mayHaveArrived: Bool)
        /// The server's certificate was rejected; the text is the reason.
        case certificate(String)
        /// The file in `--ca-file` cannot be read as PEM certificates.
        case unreadableCertificateFile
        /// The server does not support STARTTLS, or rejects it. No data was sent unencrypted.
        case encryptionNotOffered
        /// The server requires STARTTLS, and the connection did not use it.
        case encryptionRequired(SMTPReply)
        /// The TLS handshake failed; the text is the reason.
        case encryption(String)
        /// The server rejected the client in its greeting or in response to EHLO.
        case serverRefused(SMTPReply?)
        /// The user name and password were rejected, or the server supports no allowed mechanism. The text of the reply is withheld.
        case loginRefused(code: Int?)
        /// The server requires a user name and password.
        case loginRequired(SMTPReply)
        /// The sender's address was rejected.
        case senderRefused(SMTPReply)
        /// The recipient's address was rejected.
        case recipientRefused(SMTPReply)
        /// The message was rejected.
        case messageRefused(SMTPReply)
        /// The connection ended early. `mayHaveArrived` is true if the whole message had been sent.
        case interrupted(mayHaveArrived: Bool)
        /// The response is not valid SMTP; the text is libcurl's message.
        case protocolError(String)
        /// `isCancelled` returned true.
        case cancelled
    }

    public let reason: Reason
    /// The scheme, host and port of the server.
    public let origin: String

    public init(_ reason: Reason, at origin: String) {
        self.reason = reason
        self.origin = origin
    }

    /// Whether the server may have accepted the message although this is not confirmed.
    public var mayHaveArrived: Bool {
        switch reason {
        case .timedOut(_, let mayHaveArrived), .interrupted(let mayHaveArrived): mayHaveArrived
        case .protocolError, .cancelled: true
        default: false
        }
    }

    /// Whether the same message can be accepted later. If `false`, a change is required first.
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

    /// Whether the recipient's address was permanently rejected, so that another address is required.
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
