import Network

/// The mail server, and who writes to people.
public struct MailSettings: Sendable {
    public var server: SMTPServer
    /// Without a name the tenant's is shown.
    public var sender: Mailbox

    public init(server: SMTPServer, sender: Mailbox) {
        self.server = server
        self.sender = sender
    }
}
