import CCurl

/// What a connection answers while a message is sent. Only the thread that performs it touches it.
final class MailTransfer {
    private let encryption: SMTPServer.Encryption
    private let isCancelled: @Sendable () -> Bool
    private(set) var replies = SMTPReplies()
    /// Whether a new connection was begun.
    private(set) var opensConnection = false
    /// Why we ended it; libcurl then only knows that we did.
    private(set) var verdict: MailFailure.Reason?

    init(_ submission: MailSubmission) {
        encryption = submission.server.encryption
        isCancelled = submission.isCancelled
    }

    /// Performs what `easy` is set up for and answers its CURLcode and libcurl's words for it.
    func perform(_ easy: OpaquePointer, _ library: CurlLibrary) -> (code: Int32, words: String) {
        var callbacks = ccurl_callbacks(
            context: Unmanaged.passUnretained(self).toOpaque(),
            admits: { MailTransfer.from($0).admits($1!) },
            header: { MailTransfer.from($0).takeReply(UnsafeRawBufferPointer(start: $1, count: $2)) },
            body: { _, _, _ in true },
            continues: { MailTransfer.from($0).continues() })
        var words = [CChar](repeating: 0, count: CCURL_REASON_CAPACITY)
        let code = withExtendedLifetime(self) { ccurl_perform(library.table, easy, &callbacks, &words) }
        return (code, text(words))
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MailTransfer {
        Unmanaged<MailTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// An administrator names the server, so private networks are allowed.
    private func admits(_ address: UnsafePointer<sockaddr>) -> Bool {
        opensConnection = true
        let isAllowed =
            switch NetworkAddress(address)?.reach {
            case .loopback: true
            case .everyone, .privateNetwork: encryption != .noneToLoopback
            case .nobody, nil: false
            }
        // An earlier address of the same name may have been refused; this one decides now.
        verdict = isAllowed ? nil : .addressRefused
        return isAllowed
    }

    private func takeReply(_ line: UnsafeRawBufferPointer) -> Bool {
        replies.take(line)
        return true
    }

    private func continues() -> Bool {
        guard isCancelled() else { return true }
        verdict = .cancelled
        return false
    }
}

/// The answers of a server, read line by line (RFC 5321 section 4.2.1).
struct SMTPReplies {
    /// The last whole answer but the one to QUIT (221), which tells nothing.
    private(set) var last: SMTPReply?
    private var pieces: [Substring] = []

    mutating func take(_ bytes: some Collection<UInt8>) {
        let line = String(decoding: bytes.map { (0x20...0x7e).contains($0) ? $0 : 0x20 }, as: UTF8.self)
        guard let code = Int(line.prefix(3)), (200...599).contains(code) else { return }
        if pieces.count < 8 { pieces.append(line.dropFirst(4)) }
        guard line.dropFirst(3).first != "-" else { return }
        var words = pieces.flatMap { $0.split(separator: " ") }
        let status = words.first.map(String.init).flatMap { Self.isEnhancedStatus($0) ? $0 : nil }
        if let status { words.removeAll { $0 == status } }
        let text = words.map { $0.contains("@") ? "(address)" : String($0) }.joined(separator: " ")
        if code != 221 { last = SMTPReply(code: code, enhancedStatus: status, text: String(text.prefix(200))) }
        pieces = []
    }

    /// RFC 3463 section 2.
    private static func isEnhancedStatus(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(\.isWholeNumber) }
    }
}
