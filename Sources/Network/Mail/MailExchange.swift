import CCurl
import Platform

/// The submission of one message over one connection.
final class MailExchange {
    private let submission: MailSubmission
    private let bytes: [UInt8]
    private let caFile: String?
    private let library: CurlLibrary
    private let deadline: UInt64
    private let transfer: MailTransfer

    init(_ submission: MailSubmission, _ bytes: [UInt8], caFile: String?, _ library: CurlLibrary, until deadline: UInt64) {
        self.submission = submission
        self.bytes = bytes
        self.caFile = caFile
        self.library = library
        self.deadline = deadline
        transfer = MailTransfer(submission)
    }

    /// Returns whether the failure occurred only because the server had closed the kept connection, before or with its first reply. No part
    /// of the message was accepted in this case, and a new connection can be tried.
    func metEndedConnection(_ failure: MailFailure) -> Bool {
        guard !transfer.opensConnection else { return false }
        switch failure.reason {
        case .interrupted: return transfer.replies.last == nil
        case .serverRefused(let reply): return reply?.code == 421
        default: return false
        }
    }

    /// - Parameter afresh: Whether to open a new connection instead of reusing a kept one.
    func perform(_ easy: OpaquePointer, afresh: Bool) throws(MailFailure) {
        let table = library.table
        let now = Monotonic.nanoseconds()
        guard now < deadline else { throw failure(timedOut(isSent: false)) }
        let recipients = table.pointee.slist_append(nil, submission.message.to.address.description)
        defer { table.pointee.slist_free_all(recipients) }

        // libcurl reads the message from this buffer without copying it.
        let (code, words, taken) = bytes.withUnsafeBytes { bytes in
            var upload = ccurl_upload(bytes: bytes.bindMemory(to: CChar.self).baseAddress, count: bytes.count, taken: 0)
            return withUnsafeMutablePointer(to: &upload) { upload in
                let milliseconds = Int((deadline - now + 999_999) / 1_000_000)
                var code = configure(easy, milliseconds: milliseconds, afresh: afresh)
                if code == 0 { code = ccurl_set_recipients(table, easy, recipients) }
                if code == 0 { code = ccurl_set_upload(table, easy, upload) }
                guard code == 0 else { return (Int32(48), "an option is not supported", 0) }
                let (result, words) = transfer.perform(easy, library)
                return (result, words, upload.pointee.taken)
            }
        }
        guard code != 0 else { return }
        throw failure(transfer.verdict ?? reason(code, words, isSent: taken == bytes.count))
    }

    /// Sets every relevant option, so that no environment variable or build setting of libcurl has an effect.
    ///
    /// - Returns: The CURLcode of the first option that was rejected, or 0.
    private func configure(_ easy: OpaquePointer, milliseconds: Int, afresh: Bool) -> Int32 {
        let (table, server) = (library.table, submission.server)
        func number(_ option: ccurl_number, _ value: Int) -> Int32 { ccurl_set_number(table, easy, option, value) }
        func text(_ option: ccurl_text, _ value: String) -> Int32 { ccurl_set_text(table, easy, option, value) }

        // Since libcurl 7.87: at the deadline, a pending name resolution is abandoned instead of waited for.
        _ = number(CCURL_QUICK_EXIT, 1)
        let scheme = server.encryption == .implicit ? "smtps" : "smtp"
        // Since libcurl 7.85. Earlier versions use a bit mask (CURLPROTO_SMTP, CURLPROTO_SMTPS).
        let restricted = text(CCURL_PROTOCOLS_STR, scheme)
        var codes = [restricted == 0 ? 0 : number(CCURL_PROTOCOLS, server.encryption == .implicit ? 1 << 17 : 1 << 16)]
        codes += [
            // libcurl sends the path of the URL in EHLO.
            text(CCURL_URL, "\(server.origin)/\(server.greetingName ?? submission.envelopeSender.domain)"),
            text(CCURL_PROXY, ""), text(CCURL_NOPROXY, ""), number(CCURL_USE_SSL, server.encryption == .noneToLoopback ? 0 : 3),
            number(CCURL_SSL_VERIFYPEER, 1), number(CCURL_SSL_VERIFYHOST, 2), number(CCURL_SSLVERSION, 6),  // at least TLS 1.2
            number(CCURL_NOSIGNAL, 1), number(CCURL_NOPROGRESS, 0), number(CCURL_MAXCONNECTS, 1),
            number(CCURL_FRESH_CONNECT, afresh ? 1 : 0),
            number(CCURL_TIMEOUT_MS, milliseconds), number(CCURL_CONNECTTIMEOUT_MS, milliseconds),
            number(CCURL_SERVER_RESPONSE_TIMEOUT, (milliseconds + 999) / 1000),
            text(CCURL_MAIL_FROM, submission.envelopeSender.description),
        ]
        if let caFile {
            // The file replaces the system's bundle; the system's directory with the same certificates remains in use.
            codes += [text(CCURL_CAINFO, caFile), text(CCURL_CAPATH, "/etc/ssl/certs")]
        }
        if let login = server.login {
            let password = login.password.withUnsafeBytes { $0.map { CChar(bitPattern: $0) } + [0] }
            let mechanisms = login.mechanisms.map { "AUTH=\($0.rawValue)" }.sorted().joined(separator: ";")
            codes += [
                text(CCURL_USERNAME, login.user), ccurl_set_text(table, easy, CCURL_PASSWORD, password),
                text(CCURL_LOGIN_OPTIONS, mechanisms),
            ]
        }
        return codes.first { $0 != 0 } ?? 0
    }

    private func failure(_ reason: MailFailure.Reason) -> MailFailure { MailFailure(reason, at: submission.server.origin) }

    private func timedOut(isSent: Bool) -> MailFailure.Reason {
        .timedOut(milliseconds: submission.timeoutMilliseconds, mayHaveArrived: isSent)
    }

    /// Maps a CURLcode (curl/curl.h) and the server's last reply to a reason.
    private func reason(_ code: Int32, _ words: String, isSent: Bool) -> MailFailure.Reason {
        let refusal = transfer.replies.last.flatMap { $0.code >= 400 ? $0 : nil }
        switch code {
        case 6: return .unresolvable
        case 7: return .unreachable
        case 28: return timedOut(isSent: isSent)
        case 35: return .encryption(words)
        case 51, 60: return .certificate(words)
        case 64: return .encryptionNotOffered
        case 67: return .loginRefused(code: refusal?.code)
        case 77: return .unreadableCertificateFile
        case 1, 4, 48: return .notSupported(words)
        case 9: return .serverRefused(refusal)
        case 8, 52, 55, 56: return refusal.map { judge($0, words, isSent: isSent) } ?? .interrupted(mayHaveArrived: isSent)
        default: return .protocolError(words.isEmpty ? "libcurl's code \(code)" : words)
        }
    }

    /// Determines the command to which a negative reply belongs; libcurl's message begins with its name.
    private func judge(_ reply: SMTPReply, _ words: String, isSent: Bool) -> MailFailure.Reason {
        // RFC 3207 section 4 and RFC 4954 section 6 use the same code; the text shows which of the two is required.
        if reply.code == 530 { return reply.text.uppercased().includes("STARTTLS") ? .encryptionRequired(reply) : .loginRequired(reply) }
        if reply.code == 421 { return .serverRefused(reply) }
        if isSent || words.hasPrefix("DATA") { return .messageRefused(reply) }
        if words.hasPrefix("MAIL") { return .senderRefused(reply) }
        return words.hasPrefix("RCPT") ? .recipientRefused(reply) : .serverRefused(reply)
    }
}
