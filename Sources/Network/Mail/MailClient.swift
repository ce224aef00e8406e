/// Hands messages to a server. Handed in wherever mail is sent, so that tests can keep it instead.
public protocol MailClient: Sendable {
    /// Hands over one message and waits on the calling thread until the server has taken it.
    ///
    /// - Throws: `MailFailure` when it was not taken, or nobody knows.
    func send(_ submission: MailSubmission) throws(MailFailure)
}

/// A message, the server it goes through, and how long that may take.
public struct MailSubmission: Sendable {
    public var message: MailMessage
    public var server: SMTPServer
    /// Who gets word when the message cannot be delivered later (MAIL FROM).
    public var envelopeSender: MailAddress
    public var timeoutMilliseconds: Int
    /// Asked about once a second; true ends it with `cancelled`.
    public var isCancelled: @Sendable () -> Bool

    /// - Parameter envelopeSender: nil stands for the address in `From`.
    public init(
        _ message: MailMessage, through server: SMTPServer, envelopeSender: MailAddress? = nil, timeoutMilliseconds: Int = 10_000,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.message = message
        self.server = server
        self.envelopeSender = envelopeSender ?? message.from.address
        self.timeoutMilliseconds = timeoutMilliseconds
        self.isCancelled = isCancelled
    }
}
