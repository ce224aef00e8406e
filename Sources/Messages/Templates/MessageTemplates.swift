/// The templates of a tenant. The built-in English ones are used for everything else.
public struct MessageTemplates: Hashable, Sendable {
    /// Email templates by purpose and language tag.
    public var mails: [MessagePurpose: [String: MailTemplate]]
    /// Text message templates by purpose and language tag.
    public var textMessages: [MessagePurpose: [String: TextMessageTemplate]]
    /// The language for users none of whose languages is available.
    public var defaultLanguage: String

    public init(
        mails: [MessagePurpose: [String: MailTemplate]] = [:], textMessages: [MessagePurpose: [String: TextMessageTemplate]] = [:],
        defaultLanguage: String = "en"
    ) {
        self.mails = mails
        self.textMessages = textMessages
        self.defaultLanguage = defaultLanguage
    }

    /// Returns the email for a user and the tag of its language. `languages` are the user's languages in order of preference.
    public func mail(for purpose: MessagePurpose, languages: [String], _ values: MessageValues) -> (language: String, MailText) {
        let (language, template) = choose(mails[purpose] ?? [:], languages)
        return (language, (template ?? EnglishTemplates.mail(for: purpose, values)).filled(with: values))
    }

    /// Returns the text message for a user and the tag of its language. `languages` are the user's languages in order of preference.
    public func textMessage(for purpose: MessagePurpose, languages: [String], _ values: MessageValues) -> (language: String, String) {
        let (language, template) = choose(textMessages[purpose] ?? [:], languages)
        return (language, (template ?? EnglishTemplates.textMessage(for: purpose, values)).filled(with: values))
    }

    /// - Returns: The language and the template; `nil` as the template means the built-in English one.
    private func choose<Template>(_ own: [String: Template], _ languages: [String]) -> (language: String, Template?) {
        let found = LanguageTag.lookUp(languages + [defaultLanguage], in: Array(own.keys) + ["en"]) ?? "en"
        return (found, own[found])
    }
}
