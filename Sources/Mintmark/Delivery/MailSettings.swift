import Network

/// The mail server, and who writes to people.
public struct MailSettings: Sendable {
    public var server: SMTPServer
    /// Without a name the tenant's is shown.
    public var sender: Mailbox
    /// Where answers go.
    public var replyTo: Mailbox?

    public init(server: SMTPServer, sender: Mailbox, replyTo: Mailbox? = nil) {
        self.server = server
        self.sender = sender
        self.replyTo = replyTo
    }
}
