import Network

/// The mail server and the sender of messages to users.
public struct MailSettings: Sendable {
    public var server: SMTPServer
    /// The sender. If its name is omitted, the name of the tenant is used.
    public var sender: Mailbox
    /// The address for replies.
    public var replyTo: Mailbox?

    public init(server: SMTPServer, sender: Mailbox, replyTo: Mailbox? = nil) {
        self.server = server
        self.sender = sender
        self.replyTo = replyTo
    }
}
