/// The words that are used where a tenant has none of its own.
enum EnglishTemplates {
    /// - Parameter values: decide whether a name can be said and how many minutes there are.
    static func mail(for purpose: MessagePurpose, _ values: MessageValues) -> MailTemplate {
        let paragraphs = paragraphs(purpose, values)
        let html = paragraphs.map { paragraph in
            let shown = paragraph.replacing("{{code}}", with: "<strong style=\"font-size: 1.5em; letter-spacing: 0.1em\">{{code}}</strong>")
            return "<p>\(shown)</p>\n"
        }.joined()
        return made {
            () throws(TemplateRefusal) in
            try MailTemplate(
                subject: subject(purpose, values), text: paragraphs.map { $0 + "\n" }.joined(separator: "\n"),
                html: "<!DOCTYPE html>\n<html lang=\"en\">\n<body>\n\(html)</body>\n</html>\n", for: purpose)
        }
    }

    static func textMessage(for purpose: MessagePurpose, _ values: MessageValues) -> TextMessageTemplate {
        let text =
            purpose.carriesCode
            ? "{{code}} is your code\(place(values)). It works for {{minutes}} \(unit(values)). Do not tell it to anyone."
            : notice(purpose, values)[0]
        return made { () throws(TemplateRefusal) in try TextMessageTemplate(text: text, for: purpose) }
    }

    private static func subject(_ purpose: MessagePurpose, _ values: MessageValues) -> String {
        switch purpose {
        case .signUp, .verifyAddress: "{{code}} is your code to confirm your address\(place(values))"
        case .signIn: "{{code}} is your code to sign in\(values.tenantName == nil ? "" : " to {{tenantName}}")"
        case .passwordReset: "{{code}} is your code to choose a new password\(place(values))"
        case .signUpNotice: "You already have an account\(place(values))"
        case .addressChanged: "The address of your account\(place(values)) was changed"
        case .noAccountNotice: "You cannot sign in\(place(values)) like this"
        }
    }

    private static func paragraphs(_ purpose: MessagePurpose, _ values: MessageValues) -> [String] {
        let ask: String
        switch purpose {
        case .signUp: ask = "To create your account\(place(values)), enter this code:"
        case .signIn: ask = "To sign in\(values.tenantName == nil ? "" : " to {{tenantName}}"), enter this code:"
        case .passwordReset: ask = "To choose a new password\(place(values)), enter this code:"
        case .verifyAddress: ask = "To confirm that {{address}} is your address\(place(values)), enter this code:"
        case .signUpNotice, .noAccountNotice, .addressChanged: return notice(purpose, values)
        }
        let ignore =
            "If you did not ask for it, ignore this message. Nobody can get in with your address alone; do not tell anyone the code."
        return [ask, "{{code}}", "The code works for {{minutes}} \(unit(values)).", ignore]
    }

    /// What a message without a code says; the first paragraph is enough of it for a text message.
    private static func notice(_ purpose: MessagePurpose, _ values: MessageValues) -> [String] {
        switch purpose {
        case .addressChanged:
            [
                "Your account\(place(values)) has another address now, and {{address}} does not sign in to it any more.",
                "If it was you, there is nothing you need to do.",
                "If it was not you, somebody else may be in your account. Tell \(values.tenantName == nil ? "whoever runs it" : "{{tenantName}}") "
                    + "at once, and change the password of your mailbox.",
            ]
        case .noAccountNotice:
            [
                "Somebody, perhaps you, tried to sign in\(place(values)), or to choose a new password, with {{address}}. It has no account, or one "
                    + "without a password.",
                "If it was you, sign up first, or sign in as you did before, perhaps with another address.",
                "If it was not you, there is nothing you need to do.",
            ]
        default:
            [
                "Somebody, perhaps you, asked for an account\(place(values)) with {{address}}, or to give one this address. There is an account "
                    + "with it already, so nothing was done.",
                "If it was you, sign in to that one. If you do not remember your password, choose a new one there.",
                "If it was not you, there is nothing you need to do.",
            ]
        }
    }

    private static func place(_ values: MessageValues) -> String { values.tenantName == nil ? "" : " for {{tenantName}}" }

    private static func unit(_ values: MessageValues) -> String { values.minutes == 1 ? "minute" : "minutes" }

    /// A test makes each of them.
    private static func made<Template>(_ make: () throws(TemplateRefusal) -> Template) -> Template {
        do throws(TemplateRefusal) { return try make() } catch { fatalError("a built-in template is refused: \(error)") }
    }
}
