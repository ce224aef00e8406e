import ArgumentParser

/// The options that say who carries messages to people, for all tenants without a delivery of their own; the same for every command.
struct DeliveryOptions: ParsableArguments {
    @Option(
        name: .customLong("smtp-url"),
        help: ArgumentHelp(
            "The mail server: smtp://host:587 (STARTTLS) or smtps://host:465 (TLS from the first byte).", valueName: "url"))
    var smtpURL: String?

    @Option(help: ArgumentHelp("The address that mails come from.", valueName: "address"))
    var mailFrom: String?

    @Option(
        help: ArgumentHelp(
            "Who logs in to the mail server. The password stands in a file, or in MINTMARK_SMTP_PASSWORD.", valueName: "user"))
    var smtpUser: String?

    @Option(help: ArgumentHelp("A file with that password.", valueName: "path"), completion: .file())
    var smtpPasswordFile: String?

    @Flag(help: "Speak to the mail server without TLS; on a loopback address only.")
    var smtpUnencrypted = false

    @Option(
        name: .customLong("webhook-url"),
        help: ArgumentHelp("Where text messages, and mails if there is no mail server, are posted to.", valueName: "url"))
    var webhookURL: String?

    @Option(
        help: ArgumentHelp(
            "A file with the secret that posts are signed with, at least 16 bytes; or set MINTMARK_WEBHOOK_SECRET.", valueName: "path"),
        completion: .file())
    var webhookSecretFile: String?

    /// What was given on the command line.
    var settings: DeliverySettings {
        DeliverySettings(
            smtpURL: smtpURL, mailFrom: mailFrom, smtpUser: smtpUser, smtpPasswordFile: smtpPasswordFile,
            smtpUnencrypted: smtpUnencrypted, webhookURL: webhookURL, webhookSecretFile: webhookSecretFile)
    }
}
