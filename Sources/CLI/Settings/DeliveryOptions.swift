import Arguments

/// The options for the delivery of messages in tenants that do not configure it themselves; the same for every command.
struct DeliveryOptions: ParsableArguments {
    @Option(
        name: .customLong("smtp-url"),
        help: ArgumentHelp(
            "The mail server: smtp://host:587 (STARTTLS) or smtps://host:465 (TLS from the first byte).", valueName: "url"))
    var smtpURL: String?

    @Option(help: ArgumentHelp("The sender address of emails.", valueName: "address"))
    var mailFrom: String?

    @Option(
        help: ArgumentHelp(
            "The user name for the mail server. The password is in a file or in MINTMARK_SMTP_PASSWORD.", valueName: "user"))
    var smtpUser: String?

    @Option(help: ArgumentHelp("The path of a file with the password for the mail server.", valueName: "path"), completion: .file())
    var smtpPasswordFile: String?

    @Flag(help: "Connect to the mail server without TLS. Allowed only for loopback addresses.")
    var smtpUnencrypted = false

    @Option(
        name: .customLong("webhook-url"),
        help: ArgumentHelp("The URL to which text messages are posted, and emails if there is no mail server.", valueName: "url"))
    var webhookURL: String?

    @Option(
        help: ArgumentHelp(
            "The path of a file with the secret that signs posts, at least 16 bytes. Alternatively, set MINTMARK_WEBHOOK_SECRET.",
            valueName: "path"),
        completion: .file())
    var webhookSecretFile: String?

    var properties: [(name: String, property: CommandProperty)]? {
        [
            ("smtpURL", _smtpURL), ("mailFrom", _mailFrom), ("smtpUser", _smtpUser), ("smtpPasswordFile", _smtpPasswordFile),
            ("smtpUnencrypted", _smtpUnencrypted), ("webhookURL", _webhookURL), ("webhookSecretFile", _webhookSecretFile),
        ]
    }

    /// The values given on the command line.
    var settings: DeliverySettings {
        DeliverySettings(
            smtpURL: smtpURL, mailFrom: mailFrom, smtpUser: smtpUser, smtpPasswordFile: smtpPasswordFile,
            smtpUnencrypted: smtpUnencrypted, webhookURL: webhookURL, webhookSecretFile: webhookSecretFile)
    }
}
