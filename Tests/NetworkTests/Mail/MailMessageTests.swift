import Crypto
import JSON
import Testing

@testable import Network

/// Encoded messages are parsed by another implementation: Python's `email` with its strict policy.
@Suite struct MailMessageTests {
    let server: MailTestServer

    init() throws { server = try MailTestServer.shared.get() }

    static func message(subject: String = "Hello", text: String = "Hello.", html: String? = nil, name: String? = nil) throws -> MailMessage
    {
        let sender = Mailbox(name: name, address: try MailAddress("sender@example.com"))
        return MailMessage(
            from: sender, to: Mailbox(address: try MailAddress("ann@example.org")), subject: subject, text: text, html: html,
            sentAt: 1_700_000_000,
            messageId: MailMessage.newId(from: sender, random: SystemRandom()))
    }

    /// The text as a parser returns it from a header: one line without leading and trailing spaces.
    static func shown(_ text: String) -> String { HeaderText.inOneLine(text) }

    /// The text with LF line endings. `replacing` is not suitable, because CR LF is one `Character`.
    static func lines(_ text: String) -> String {
        let scalars = text.unicodeScalars
        var lines = String.UnicodeScalarView()
        for (scalar, next) in zip(scalars, scalars.dropFirst().map(Optional.some) + [nil]) where scalar != "\r" || next != "\n" {
            lines.append(scalar == "\r" ? "\n" : scalar)
        }
        return String(lines)
    }

    func check(_ message: MailMessage) throws {
        let read = try server.parse(message.encoded())
        let why: Comment = "\(message.subject.debugDescription) \(message.text.debugDescription)"
        #expect(read["subject"]?.string == Self.shown(message.subject), why)
        #expect(read["boxes"]?["From"]?["name"]?.string == Self.shown(message.from.name ?? ""), why)
        #expect(read["boxes"]?["From"]?["address"]?.string == "sender@example.com", why)
        #expect(read["text"]?.string == Self.lines(message.text), why)
        #expect(read["html"]?.string == message.html.map(Self.lines), why)
        #expect(read["isASCII"] == true && read["hasLoneLineEnds"] == false, why)
        #expect((read["longestLine"]?.int ?? 999) <= 998, why)
        let names = ["Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]
        let single = message.html == nil ? ["Content-Transfer-Encoding"] : []
        #expect(read["headers"]?.array?.compactMap(\.string) == names + single, why)
    }

    @Test("a message has a date, an ID, both texts and is marked as generated automatically")
    func whole() throws {
        var message = try Self.message(subject: "Your code", text: "Code: 12345678\n", html: "<p>Code: <b>12345678</b></p>", name: "Shop")
        message.replyTo = Mailbox(name: "Help, please", address: try MailAddress("help@example.com"))
        message.language = "de-CH"
        let read = try server.parse(message.encoded())
        #expect(read["date"] == 1_700_000_000)
        #expect(read["messageId"]?.string == "<\(message.messageId)>")
        #expect(message.messageId.hasSuffix("@example.com") && message.messageId.utf8.count == 44)
        #expect(read["autoSubmitted"] == "auto-generated")
        #expect(read["language"] == "de-CH")
        #expect(read["type"] == "multipart/alternative")
        #expect(read["boxes"]?["Reply-To"]?["name"] == "Help, please")
        #expect(read["boxes"]?["To"]?["address"] == "ann@example.org")
        #expect(read["text"] == "Code: 12345678\n")
        #expect(read["html"] == "<p>Code: <b>12345678</b></p>")
    }

    @Test(
        "header injection in subjects and names is prevented",
        arguments: [
            "Hi\r\nBcc: eve@example.com", "Hi\nBcc: eve@example.com", "Hi\rBcc: eve@example.com", "Hi\r\n\r\n<script>", "Hi\u{85}Bcc: eve",
            "Hi\u{2028}Bcc: eve", "Hi\u{0}there", "Hi\u{b}\u{c}Bcc: x", "=?utf-8?Q?Hi=0D=0ABcc:_eve@example.com?=",
            "\" <eve@example.com>, \"",
            "eve@example.com,", "a;b:c,d<e>\\\"", "\\", "\\\r\n", "",
        ])
    func injection(text: String) throws {
        try check(Self.message(subject: text, name: text))
        try check(
            Self.message(subject: String(repeating: text, count: 40), text: text, html: text, name: String(repeating: text, count: 40)))
    }

    @Test(
        "bodies with long lines, dots, trailing spaces, boundaries and every line ending are preserved",
        arguments: [
            "", ".", "..\n.", "\n", "\r\n\r\n", "a\rb\nc\r\nd", "blank \ntab\t\n", " ", String(repeating: "x", count: 5000),
            String(repeating: "ü", count: 5000), String(repeating: "=", count: 200), "--=_alternative\n--=_alternative--",
            "From here\n>From",
            "\u{0}\u{1}\u{7f}", "👩‍👩‍👧‍👦 \u{301}\u{200f}", String(repeating: "word ", count: 400),
        ])
    func bodies(text: String) throws {
        try check(Self.message(text: text))
        try check(Self.message(text: text, html: text))
    }

    @Test("random subjects, names and bodies are preserved, and no header is added")
    func anything() throws {
        var generator = SystemRandomNumberGenerator()
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7e, 0x20...0x7e, 0...0x1f, 0x7f...0x7ff, 0x800...0xd7ff, 0xe000...0xffff, 0x10000...0x10ffff,
        ]
        func random(_ longest: Int) -> String {
            let few = ranges.shuffled(using: &generator).prefix(.random(in: 1...3, using: &generator))
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...longest, using: &generator) {
                text.append(Unicode.Scalar(.random(in: few.randomElement(using: &generator)!, using: &generator))!)
            }
            return String(text)
        }
        for _ in 0..<300 {
            try check(Self.message(subject: random(120), text: random(400), html: Bool.random() ? random(400) : nil, name: random(80)))
        }
    }

    @Test("dates are parsed back to the same second")
    func dates() throws {
        var message = try Self.message()
        for seconds in [0, 951_782_399, 951_782_400, 951_868_800, 1_709_164_800, 4_107_542_400, 7_258_118_400, 253_402_300_799] as [Int64] {
            message.sentAt = seconds
            #expect(try server.parse(message.encoded())["date"] == .number(JSONNumber(seconds)))
        }
        #expect(MailDate.text(of: 880_106_106) == "Fri, 21 Nov 1997 09:55:06 +0000")
        #expect(MailDate.text(of: -1) == "Thu, 1 Jan 1970 00:00:00 +0000")
    }
}
