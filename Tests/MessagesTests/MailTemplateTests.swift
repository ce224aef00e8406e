import Testing

@testable import Messages

@Suite struct MailTemplateTests {
    static let values = MessageValues(code: "12345678", lifetimeSeconds: 599, tenantName: "Müller & Söhne", address: "ann@example.org")

    static func violations(
        _ subject: String = "S", _ text: String = "{{code}}", _ html: String? = nil, for purpose: MessagePurpose = .signUp
    ) -> [TemplateRefusal.Violation] {
        do throws(TemplateRefusal) {
            _ = try MailTemplate(subject: subject, text: text, html: html, for: purpose)
            return []
        } catch { return error.violations }
    }

    @Test("every placeholder is replaced, with or without spaces inside the braces, and escaped only in HTML")
    func filled() throws {
        let template = try MailTemplate(
            subject: "{{code}} – {{tenantName}}", text: "{{ code }}/{{minutes}}/{{tenantName}}/{{address}}\n{x} }} {",
            html: "<style>p { color: red } @media print { p { color: black }}</style><a title='{{tenantName}}'>{{code}}</a>", for: .signIn)
        let mail = template.filled(with: Self.values)
        #expect(mail.subject == "12345678 – Müller & Söhne")
        #expect(mail.text == "12345678/10/Müller & Söhne/ann@example.org\n{x} }} {")
        #expect(
            mail.html
                == "<style>p { color: red } @media print { p { color: black }}</style><a title='Müller &amp; Söhne'>12345678</a>")
    }

    @Test("a value is never interpreted as a template, a header line or HTML")
    func hostileValues() throws {
        let template = try MailTemplate(
            subject: "{{tenantName}}", text: "{{tenantName}}{{code}}", html: "{{tenantName}}{{code}}", for: .signUp)
        var values = Self.values
        values.tenantName = "{{code}}\r\nBcc: eve@example.com\u{2028}<script>alert('\"')</script>\u{0}"
        let mail = template.filled(with: values)
        #expect(mail.subject == "{{code}}  Bcc: eve@example.com <script>alert('\"')</script> ")
        #expect(mail.text == mail.subject + "12345678")
        #expect(mail.html == "{{code}}  Bcc: eve@example.com &lt;script&gt;alert(&#39;&quot;&#39;)&lt;/script&gt; 12345678")
    }

    @Test("unknown placeholders are rejected with the nearest known names")
    func unknown() {
        let all = ["code", "minutes", "tenantName", "address"]
        #expect(
            Self.violations("{{cod}}", "{{code}} {{Minutes}}", "{{code}}{{password}}")
                == [
                    .init(part: .subject, problem: .unknown(name: "cod", nearest: ["code"], allowed: all)),
                    .init(part: .text, problem: .unknown(name: "Minutes", nearest: ["minutes"], allowed: all)),
                    .init(part: .html, problem: .unknown(name: "password", nearest: [], allowed: all)),
                ])
        #expect(Self.violations("{{cod}}").first?.description == "subject: {{cod}} is not a known placeholder (did you mean {{code}}?).")
        #expect(
            Self.violations(for: .signUpNotice)
                == [.init(part: .text, problem: .unknown(name: "code", nearest: [], allowed: ["tenantName", "address"]))])
        #expect(Self.violations("{{}}") == [.init(part: .subject, problem: .unknown(name: "", nearest: [], allowed: all))])
    }

    @Test("a missing code, an empty part and an unclosed placeholder are violations")
    func mistakes() {
        #expect(
            Self.violations("", "Hello", "<p>Hello</p>")
                == [
                    .init(part: .subject, problem: .empty), .init(part: .text, problem: .missing(.code)),
                    .init(part: .html, problem: .missing(.code)),
                ])
        #expect(Self.violations("é {{code") == [.init(part: .subject, problem: .unclosed(offset: 2))])
        #expect(Self.violations("S", "{{code}} {{co\nde}}") == [.init(part: .text, problem: .unclosed(offset: 9))])
        #expect(Self.violations("S", "{{code}}", " \n") == [.init(part: .html, problem: .empty)])
        #expect(Self.violations("S", "Sign in.", for: .signUpNotice) == [])
    }

    @Test(
        "a subject with a control character is rejected", arguments: ["\n", "\r", "\r\n", "\u{0}", "\u{85}", "\u{2028}", "\u{2029}", "\t"])
    func subjectInjection(breaking: String) {
        #expect(Self.violations("Code\(breaking)Bcc: eve@example.com") == [.init(part: .subject, problem: .controlCharacter)])
    }

    @Test("each part has a maximum length")
    func lengths() {
        let (subject, text, html) = MailTemplate.maximum
        func long(_ count: Int) -> String { "{{code}}" + String(repeating: "é", count: count - 8) }
        #expect(Self.violations(long(subject), long(text), long(html)) == [])
        #expect(
            Self.violations(long(subject + 1), long(text + 1), long(html + 1))
                == [
                    .init(part: .subject, problem: .tooLong(maximum: subject)), .init(part: .text, problem: .tooLong(maximum: text)),
                    .init(part: .html, problem: .tooLong(maximum: html)),
                ])
        #expect(throws: TemplateRefusal.self) { try TextMessageTemplate(text: long(766), for: .signIn) }
        #expect(throws: Never.self) { try TextMessageTemplate(text: long(765), for: .signIn) }
    }
}
