import Testing

@testable import Network

@Suite struct MailAddressTests {
    static func refusal(_ text: String) -> MailAddress.Refusal? {
        do throws(MailAddress.Refusal) {
            _ = try MailAddress(text)
            return nil
        } catch { return error }
    }

    @Test(
        "valid addresses are accepted unchanged, up to every limit",
        arguments: [
            "a@b.de", "First.Last+tag@Mail.Example.COM", "o'neill!#$%&*-/=?^_`{|}~@xn--mller-kva.example", "1@2.3x",
            String(repeating: "a", count: 64) + "@example.com", "a@" + String(repeating: "b", count: 63) + ".example",
            "a@" + String(repeating: "bc.", count: 81) + "example12",
        ])
    func taken(text: String) throws { #expect(try MailAddress(text).description == text) }

    @Test(
        "texts that are not addresses are rejected",
        arguments: [
            "", "@", "a@", "@b.de", "a", "a@b", "a@b.", "a@.b", "a@b..de", ".a@b.de", "a.@b.de", "a..b@c.de", "a b@c.de", " a@b.de",
            "a@b.de ", "a@-b.de", "a@b-.de", "a@b_c.de", "a@b@c.de", "\"a b\"@c.de", "a@[127.0.0.1]", "a@127.0.0.1", "<a@b.de>",
            "Ann <a@b.de>",
            "a@b.de\r\nBcc: c@d.de", "a\u{0}@b.de", "a@b.de\u{0}", "a,b@c.de", "a;b@c.de", "a(b)@c.de",
            "a@" + String(repeating: "b", count: 64) + ".de",
        ])
    func malformed(text: String) { #expect(Self.refusal(text) == .malformed) }

    @Test("internationalized addresses are rejected", arguments: ["jörg@example.com", "ann@münchen.example", "用户@例子.公司", "a@b。de"])
    func internationalised(text: String) { #expect(Self.refusal(text) == .internationalised) }

    @Test("addresses longer than SMTP allows are rejected")
    func tooLong() {
        #expect(Self.refusal(String(repeating: "a", count: 65) + "@example.com") == .tooLong)
        #expect(Self.refusal("a@" + String(repeating: "bc.", count: 81) + "example123") == .tooLong)
    }
}
