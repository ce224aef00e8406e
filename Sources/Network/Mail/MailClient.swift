/// Submits email messages to a server. Passed as a dependency, so that tests can capture the messages.
public protocol MailClient: Sendable {
    /// Submits one message and waits on the calling thread until the server has accepted it.
    ///
    /// - Throws: `MailFailure` if the message was not accepted, or if the outcome is unknown.
    func send(_ submission: MailSubmission) throws(MailFailure)
}

/// A message, the server that receives it, and the time limit.
public struct MailSubmission: Sendable {
    public var message: MailMessage
    public var server: SMTPServer
    /// The recipient of later delivery failure notices (MAIL FROM).
    public var envelopeSender: MailAddress
    public var timeoutMilliseconds: Int
    /// Called about once a second; `true` ends the submission with `cancelled`.
    public var isCancelled: @Sendable () -> Bool

    /// - Parameter envelopeSender: Defaults to the address in `From`.
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
