import CCurl
import Platform

/// The replies received while a message is sent. Accessed only by the thread that performs the transfer.
final class MailTransfer {
    private let encryption: SMTPServer.Encryption
    private let isCancelled: @Sendable () -> Bool
    private(set) var replies = SMTPReplies()
    /// Whether a new connection was opened.
    private(set) var opensConnection = false
    /// The reason this program aborted the transfer. libcurl reports only that it was aborted.
    private(set) var verdict: MailFailure.Reason?

    init(_ submission: MailSubmission) {
        encryption = submission.server.encryption
        isCancelled = submission.isCancelled
    }

    /// Performs the transfer that `easy` is configured for and returns its CURLcode and libcurl's message.
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

    /// Returns whether the address is allowed. Private networks are allowed because an administrator configures the server.
    private func admits(_ address: UnsafePointer<sockaddr>) -> Bool {
        opensConnection = true
        let isAllowed =
            switch NetworkAddress(address)?.reach {
            case .loopback: true
            case .everyone, .privateNetwork: encryption != .noneToLoopback
            case .nobody, nil: false
            }
        // An earlier address of the same name may have been rejected; this one replaces that verdict.
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

/// Parses the replies of a server line by line (RFC 5321 section 4.2.1).
struct SMTPReplies {
    /// The last complete reply, except the reply to QUIT (221), which contains no information.
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

    /// Returns whether the word is an enhanced status code (RFC 3463 section 2).
    private static func isEnhancedStatus(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(\.isWholeNumber) }
    }
}
