import Testing

@testable import Messages

@Suite struct MessageTemplatesTests {
    static func values(_ name: String? = "Shop", seconds: Int64 = 600) -> MessageValues {
        MessageValues(
            code: "12345678", lifetimeSeconds: seconds, tenantName: name, address: "ann@example.org", changedAt: 1_709_210_096,
            what: "7")
    }

    @Test(
        "times are formatted in UTC, including around a leap day and at the limits of the range",
        arguments: [
            (0, "1970-01-01 00:00 UTC"), (1_709_164_799, "2024-02-28 23:59 UTC"), (1_709_210_096, "2024-02-29 12:34 UTC"),
            (1_709_251_200, "2024-03-01 00:00 UTC"), (253_402_300_799, "9999-12-31 23:59 UTC"), (.max, "9999-12-31 23:59 UTC"),
            (-5, "1970-01-01 00:00 UTC"),
        ] as [(Int64, String)])
    func times(_ seconds: Int64, _ text: String) { #expect(MessageTime.text(of: seconds) == text) }

    @Test(
        "built-in templates exist for every purpose and fill every placeholder, with or without a name", arguments: MessagePurpose.allCases)
    func builtIn(purpose: MessagePurpose) {
        let hasCode = [.signUp, .signIn, .passwordReset, .verifyAddress].contains(purpose)
        for name in ["Shop", nil] {
            for seconds in [60, 600] as [Int64] {
                let (language, mail) = MessageTemplates().mail(for: purpose, languages: [], Self.values(name, seconds: seconds))
                let (_, text) = MessageTemplates().textMessage(for: purpose, languages: [], Self.values(name, seconds: seconds))
                #expect(language == "en")
                for part in [mail.subject, mail.text, mail.html ?? "", text] {
                    #expect(!part.contains("{{") && !part.contains("  "), "\(part)")
                    #expect(part.contains("Shop") == (name != nil), "\(part)")
                    #expect(part.contains("12345678") == hasCode, "\(part)")
                }
                if hasCode { #expect(mail.text.contains(seconds == 60 ? "1 minute." : "10 minutes.")) }
            }
        }
    }

    @Test("the built-in sign-up email has the expected subject and text")
    func example() {
        let mail = MessageTemplates().mail(for: .signUp, languages: [], Self.values()).1
        #expect(mail.subject == "12345678 is your code to confirm your email address for Shop")
        #expect(
            mail.text == """
                To create your account for Shop, enter this code:

                12345678

                The code is valid for 10 minutes.

                If you did not request this code, ignore this message. Your account stays safe as long as you do not share the code.

                """)
    }

    @Test(
        "the language is selected by the lookup of RFC 4647",
        arguments: [
            (["de-CH"], "de-CH"), (["de-ch-1996"], "de-CH"), (["de-AT"], "de"), (["DE"], "de"), (["fr", "it-IT"], "it"), (["pt-BR"], "en"),
            (["zh-Hant-CN-x-private1-private2"], "zh-Hant"), (["zh-TW", "de"], "de"), (["*", "it"], "it"),
            (["", "d", "de_CH", "it"], "it"),
            ([], "en"), (["en-GB", "de"], "en"), (["sr-x-it"], "en"),
        ])
    func languages(wanted: [String], expected: String) throws {
        let tags = ["de", "de-CH", "it", "zh-Hant"]
        let own = try tags.map { ($0, try MailTemplate(subject: $0, text: "{{code}}", for: .signIn)) }
        let templates = MessageTemplates(mails: [.signIn: Dictionary(uniqueKeysWithValues: own)])
        let (language, mail) = templates.mail(for: .signIn, languages: wanted, Self.values())
        #expect(language == expected)
        #expect(mail.subject == expected || expected == "en")
    }

    @Test("the default language applies if no requested language matches, and only to purposes with a template in it")
    func defaultLanguage() throws {
        let german = try TextMessageTemplate(text: "Ihr Code: {{code}}", for: .signIn)
        let templates = MessageTemplates(textMessages: [.signIn: ["de": german]], defaultLanguage: "de-CH")
        #expect(templates.textMessage(for: .signIn, languages: ["fr"], Self.values()) == ("de", "Ihr Code: 12345678"))
        #expect(templates.textMessage(for: .signIn, languages: ["en-US"], Self.values()).0 == "en")
        #expect(templates.textMessage(for: .signUp, languages: ["de"], Self.values()).0 == "en")
        #expect(templates.mail(for: .signIn, languages: ["de"], Self.values()).0 == "en")
    }

    @Test("well-formed language tags are distinguished from other texts")
    func tags() {
        for tag in ["de", "de-CH", "zh-Hant-TW", "sl-rozaj-biske-1994", "en-x-a"] { #expect(LanguageTag.isWellFormed(tag), "\(tag)") }
        for text in ["", "d", "de_CH", "de-", "-de", "de--CH", "123", "de-123456789", "dé", "de\r\nX: y", "abcdefghi"] {
            #expect(!LanguageTag.isWellFormed(text), "\(text)")
        }
    }
}
