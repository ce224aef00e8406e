import Contract
import Crypto
import Messages
import Network

/// Validates a tenant's delivery settings beyond their schema, so that errors occur at configuration time and not when a message is sent.
extension TenantDelivery {
    /// The maximum length of a secret. The limit of the schema is higher because encrypted secrets are longer.
    private static let maximumSecretBytes = 512

    /// - Throws: `InvalidTenantSettings`.
    func check() throws {
        if let linkUrl, !ActionLink.isUsable(linkUrl) {
            throw Self.refusal("linkUrl", "it must be an absolute URL with https, with http on this machine, or with the scheme of an app")
        }
        if let smtp { try smtp.check() }
        if let webhook {
            guard let secret = webhook.secret else {
                throw Self.refusal("webhook/secret", "a secret is required because requests are always signed")
            }
            do throws(WebhookEndpoint.Refusal) { _ = try webhook.endpoint(secret: secret) } catch {
                throw Self.refusal(error.isOfSecret ? "webhook/secret" : "webhook/url", "\(error)")
            }
            if secret.utf8.count > Self.maximumSecretBytes {
                throw Self.refusal("webhook/secret", "it is longer than \(Self.maximumSecretBytes) bytes")
            }
        }
        if let password = smtp?.password, password.utf8.count > Self.maximumSecretBytes {
            throw Self.refusal("smtp/password", "it is longer than \(Self.maximumSecretBytes) bytes")
        }
        var seen: Set<[String]> = []
        for (index, template) in (templates ?? []).enumerated() {
            let place = "templates/\(index)"
            if !seen.insert([template.channel.rawValue, template.purpose.rawValue, template.language.lowercased()]).inserted {
                throw Self.refusal(place, "another template has the same channel, purpose and language")
            }
            if template.channel == .email, template.subject == nil { throw Self.refusal("\(place)/subject", "an email requires a subject") }
            for (member, value) in [("subject", template.subject), ("html", template.html)] where template.channel == .sms && value != nil {
                throw Self.refusal("\(place)/\(member)", "a text message does not have this member")
            }
            do throws(TemplateRefusal) { try template.check() } catch {
                let part = error.violations[0].part
                throw Self.refusal("\(place)/\(part.rawValue)", error.description(at: part))
            }
        }
    }

    fileprivate static func refusal(_ member: String, _ reason: String) -> InvalidTenantSettings {
        InvalidTenantSettings(pointer: "/delivery/\(member)", reason: reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
    }

    /// The tenant's templates, with the built-in ones as defaults.
    var words: MessageTemplates {
        var words = MessageTemplates(defaultLanguage: language)
        for template in templates ?? [] {
            switch template.channel {
            case .email: words.mails[template.words, default: [:]][template.language] = try? template.mail()
            case .sms: words.textMessages[template.words, default: [:]][template.language] = try? template.textMessage()
            }
        }
        return words
    }
}

extension TenantTemplate {
    fileprivate var words: MessagePurpose { MessagePurpose(rawValue: purpose.rawValue) ?? .signUp }

    fileprivate func check() throws(TemplateRefusal) {
        switch channel {
        case .email: _ = try mail()
        case .sms: _ = try textMessage()
        }
    }

    fileprivate func mail() throws(TemplateRefusal) -> MailTemplate {
        try MailTemplate(subject: subject ?? "", text: text, html: html, for: words)
    }

    fileprivate func textMessage() throws(TemplateRefusal) -> TextMessageTemplate { try TextMessageTemplate(text: text, for: words) }
}

extension TenantWebhook {
    /// The network policy for requests to the webhook.
    private var policy: HTTPPolicy { HTTPPolicy(allowsInsecureLoopback: allowInsecure, allowsPrivateNetwork: allowPrivateNetwork) }

    /// Returns the endpoint to which messages are posted.
    ///
    /// - Throws: The setting that is not valid.
    public func endpoint(secret: String) throws(WebhookEndpoint.Refusal) -> WebhookEndpoint {
        try WebhookEndpoint(url: url, secrets: [SecretBytes(Array(secret.utf8))], policy: policy)
    }
}

extension TenantMailServer {
    /// Returns the connection settings of the server.
    ///
    /// - Throws: The setting that is not valid.
    public func server() throws(SMTPServer.Refusal) -> SMTPServer {
        var login: SMTPServer.Login?
        if let user, let password { login = SMTPServer.Login(user: user, password: SecretBytes(Array(password.utf8))) }
        return try SMTPServer(
            host: host, port: port.map { Int($0) }, encryption: SMTPServer.Encryption(rawValue: encryption.rawValue) ?? .startTLS,
            login: login)
    }

    /// - Throws: `InvalidTenantSettings`.
    fileprivate func check() throws {
        do throws(SMTPServer.Refusal) { _ = try server() } catch {
            throw TenantDelivery.refusal(error == .login ? "smtp/user" : error == .port ? "smtp/port" : "smtp/host", "\(error)")
        }
        if user != nil, password == nil { throw TenantDelivery.refusal("smtp/password", "a user name requires a password") }
        if user == nil, password != nil { throw TenantDelivery.refusal("smtp/user", "a password requires a user name") }
        for (member, address) in [("from", from), ("replyTo", replyTo)] {
            guard let address else { continue }
            do throws(MailAddress.Refusal) { _ = try MailAddress(address) } catch {
                throw TenantDelivery.refusal("smtp/\(member)", "\(error)")
            }
        }
    }
}
