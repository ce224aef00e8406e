import Platform

/// The built-in texts, which are used if a tenant has no templates of its own.
enum EnglishTemplates {
    /// The values that select a built-in text. Parsing a template takes longer than everything else about a message.
    private struct Key: Hashable {
        let purpose: MessagePurpose
        let namesTenant: Bool
        let isOneMinute: Bool

        init(_ purpose: MessagePurpose, _ values: MessageValues) {
            self.purpose = purpose
            namesTenant = values.tenantName != nil
            isOneMinute = values.minutes == 1
        }
    }

    private static let mails = UnfairLock<[Key: MailTemplate]>([:])
    private static let textMessages = UnfairLock<[Key: TextMessageTemplate]>([:])

    /// - Parameter values: Determine whether the text contains a tenant name, and the plural form of the minutes.
    static func mail(for purpose: MessagePurpose, _ values: MessageValues) -> MailTemplate {
        kept(mails, Key(purpose, values)) { newMail(for: purpose, values) }
    }

    static func textMessage(for purpose: MessagePurpose, _ values: MessageValues) -> TextMessageTemplate {
        kept(textMessages, Key(purpose, values)) { newTextMessage(for: purpose, values) }
    }

    private static func kept<Template: Sendable>(
        _ templates: UnfairLock<[Key: Template]>, _ key: Key, _ make: () -> Template
    ) -> Template {
        if let known = templates.withLock({ $0[key] }) { return known }
        let template = make()
        templates.withLock { $0[key] = template }
        return template
    }

    private static func newMail(for purpose: MessagePurpose, _ values: MessageValues) -> MailTemplate {
        let paragraphs = paragraphs(purpose, values)
        let html = paragraphs.map { paragraph in
            let shown = paragraph.replacing("{{code}}", with: "<strong style=\"font-size: 1.5em; letter-spacing: 0.1em\">{{code}}</strong>")
            return "<p>\(shown.replacing("{{link}}", with: "<a href=\"{{link}}\">{{link}}</a>"))</p>\n"
        }.joined()
        return made {
            () throws(TemplateRefusal) in
            try MailTemplate(
                subject: subject(purpose, values), text: paragraphs.map { $0 + "\n" }.joined(separator: "\n"),
                html: "<!DOCTYPE html>\n<html lang=\"en\">\n<body>\n\(html)</body>\n</html>\n", for: purpose)
        }
    }

    private static func newTextMessage(for purpose: MessagePurpose, _ values: MessageValues) -> TextMessageTemplate {
        let text =
            purpose.carriesCode
            ? "{{code}} is your code\(place(values)). It is valid for {{minutes}} \(unit(values)). Do not share it."
            : purpose.carriesLink ? "\(paragraphs(purpose, values)[0]) {{link}}" : notice(purpose, values)[0]
        return made { () throws(TemplateRefusal) in try TextMessageTemplate(text: text, for: purpose) }
    }

    private static func subject(_ purpose: MessagePurpose, _ values: MessageValues) -> String {
        switch purpose {
        case .signUp, .verifyAddress: "{{code}} is your code to confirm your email address\(place(values))"
        case .signIn: "{{code}} is your code to sign in\(values.tenantName == nil ? "" : " to {{tenantName}}")"
        case .passwordReset: "{{code}} is your code to set a new password\(place(values))"
        case .signUpNotice: "You already have an account\(place(values))"
        case .addressChanged: "The email address of your account\(place(values)) was changed"
        case .passwordChanged: "The password of your account\(place(values)) was changed"
        case .passwordResetNotice: "The password of your account\(place(values)) was reset"
        case .factorAdded: "A second factor was added to your account\(place(values))"
        case .factorRemoved: "A second factor was removed from your account\(place(values))"
        case .providerLinked: "Another way to sign in was added to your account\(place(values))"
        case .providerUnlinked: "A way to sign in was removed from your account\(place(values))"
        case .recoveryCodesMade: "New recovery codes for your account\(place(values))"
        case .recoveryCodeUsed: "A recovery code of your account\(place(values)) was used"
        case .accountLocked: "Your account\(place(values)) is locked for a while"
        case .signInAfterFailures: "A sign-in to your account\(place(values)) after failed attempts"
        case .noticesPaused: "Many changes to your account\(place(values))"
        case .noAccountNotice: "Your sign-in\(place(values))"
        case .passwordResetLink: "Set a new password\(place(values))"
        case .verifyAddressLink, .changeAddressLink: "Confirm your email address\(place(values))"
        case .signInLink: "Your link to sign in\(values.tenantName == nil ? "" : " to {{tenantName}}")"
        case .addressChangedLink: "The email address of your account\(place(values)) was changed"
        }
    }

    private static func paragraphs(_ purpose: MessagePurpose, _ values: MessageValues) -> [String] {
        if purpose.carriesLink { return linked(purpose, values) }
        let ask: String
        switch purpose {
        case .signUp: ask = "To create your account\(place(values)), enter this code:"
        case .signIn: ask = "To sign in\(values.tenantName == nil ? "" : " to {{tenantName}}"), enter this code:"
        case .passwordReset: ask = "To set a new password\(place(values)), enter this code:"
        case .verifyAddress: ask = "To confirm that {{address}} is your email address\(place(values)), enter this code:"
        default: return notice(purpose, values)
        }
        let ignore =
            "If you did not request this code, ignore this message. Your account stays safe as long as you do not share the code."
        return [ask, "{{code}}", "The code is valid for {{minutes}} \(unit(values)).", ignore]
    }

    /// Returns the paragraphs of a message with a link.
    private static func linked(_ purpose: MessagePurpose, _ values: MessageValues) -> [String] {
        if purpose == .addressChangedLink {
            return [
                "The email address of your account\(place(values)) was changed at {{time}}. If you did not make this change, undo it:",
                "{{link}}", fine,
            ]
        }
        let ask =
            switch purpose {
            case .passwordResetLink: "To set a new password\(place(values)), open this link:"
            case .signInLink: "To sign in\(values.tenantName == nil ? "" : " to {{tenantName}}"), open this link:"
            default: "To confirm that {{address}} is your email address\(place(values)), open this link:"
            }
        let ignore = "If you did not request this link, ignore this message. Your account stays safe as long as you do not share the link."
        return [ask, "{{link}}", "The link can be used once. It is valid for {{minutes}} \(unit(values)).", ignore]
    }

    /// Returns the paragraphs of a message without a code. A text message consists of the first paragraph only.
    private static func notice(_ purpose: MessagePurpose, _ values: MessageValues) -> [String] {
        if let change = change(purpose, values) { return [change, fine, alarm(values)] }
        return switch purpose {
        case .noAccountNotice:
            [
                "We received a request to sign in\(place(values)), or to set a new password, with {{address}}. This address has no account, or an account "
                    + "without a password.",
                "If you made this request, sign up first, or sign in as before, perhaps with another email address.",
                "If you did not make this request, you do not need to do anything.",
            ]
        default:
            [
                "We received a request to create an account\(place(values)) with {{address}}, or to use this address for an account. An account "
                    + "with this address already exists, so nothing was changed.",
                "If you made this request, sign in to the existing account. If you have forgotten your password, reset it.",
                "If you did not make this request, you do not need to do anything.",
            ]
        }
    }

    private static let fine = "If you made this change, you do not need to do anything."

    private static func alarm(_ values: MessageValues) -> String {
        "If you did not make this change, your account may be compromised. Contact \(values.tenantName == nil ? "the service" : "{{tenantName}}") "
            + "immediately, and change your password and the password of your mailbox."
    }

    /// Returns a sentence about a change to an account, or `nil` for a notice that is not about a change.
    private static func change(_ purpose: MessagePurpose, _ values: MessageValues) -> String? {
        let account = "your account\(place(values))"
        return switch purpose {
        case .addressChanged:
            "The email address of \(account) was changed at {{time}}. This message goes to the old and to the new address."
        case .passwordChanged: "The password of \(account) was changed at {{time}}."
        case .passwordResetNotice: "The password of \(account) was reset at {{time}}."
        case .factorAdded: "At {{time}} a second factor was added to \(account): {{what}}."
        case .factorRemoved: "At {{time}} a second factor was removed from \(account): {{what}}."
        case .providerLinked: "At {{time}} another way to sign in was added to \(account): {{what}}."
        case .providerUnlinked: "At {{time}} a way to sign in was removed from \(account): {{what}}."
        case .recoveryCodesMade: "At {{time}} new recovery codes were made for \(account). The previous ones no longer work."
        case .recoveryCodeUsed: "At {{time}} a recovery code was used to sign in to \(account). Recovery codes left: {{what}}."
        case .accountLocked: "After too many wrong passwords or codes, \(account) was locked for a while at {{time}}."
        case .signInAfterFailures: "At {{time}} there was a sign-in to \(account), after {{what}} attempts with a wrong password or code."
        case .noticesPaused:
            "There were many changes to \(account) within an hour. For the rest of the hour you get no more messages about them."
        default: nil
        }
    }

    private static func place(_ values: MessageValues) -> String { values.tenantName == nil ? "" : " for {{tenantName}}" }

    private static func unit(_ values: MessageValues) -> String { values.minutes == 1 ? "minute" : "minutes" }

    /// Creates a built-in template. A test creates all of them.
    private static func made<Template>(_ make: () throws(TemplateRefusal) -> Template) -> Template {
        do throws(TemplateRefusal) { return try make() } catch { fatalError("a built-in template is not valid: \(error)") }
    }
}
