/// All words a tenant has of its own, and the built-in English ones for the rest.
public struct MessageTemplates: Hashable, Sendable {
    /// By purpose and language tag.
    public var mails: [MessagePurpose: [String: MailTemplate]]
    /// By purpose and language tag.
    public var textMessages: [MessagePurpose: [String: TextMessageTemplate]]
    /// For people who want none of the languages there are.
    public var defaultLanguage: String

    public init(
        mails: [MessagePurpose: [String: MailTemplate]] = [:], textMessages: [MessagePurpose: [String: TextMessageTemplate]] = [:],
        defaultLanguage: String = "en"
    ) {
        self.mails = mails
        self.textMessages = textMessages
        self.defaultLanguage = defaultLanguage
    }

    /// The mail for a person who wants `languages`, the dearest first, and the tag of the language it is in.
    public func mail(for purpose: MessagePurpose, languages: [String], _ values: MessageValues) -> (language: String, MailText) {
        let (language, template) = choose(mails[purpose] ?? [:], languages)
        return (language, (template ?? EnglishTemplates.mail(for: purpose, values)).filled(with: values))
    }

    /// The text message for a person who wants `languages`, the dearest first, and the tag of the language it is in.
    public func textMessage(for purpose: MessagePurpose, languages: [String], _ values: MessageValues) -> (language: String, String) {
        let (language, template) = choose(textMessages[purpose] ?? [:], languages)
        return (language, (template ?? EnglishTemplates.textMessage(for: purpose, values)).filled(with: values))
    }

    /// - Returns: nil as the template stands for the built-in one, in English.
    private func choose<Template>(_ own: [String: Template], _ languages: [String]) -> (language: String, Template?) {
        let found = LanguageTag.lookUp(languages + [defaultLanguage], in: Array(own.keys) + ["en"]) ?? "en"
        return (found, own[found])
    }
}
