import Contract
import JSON
import Testing

@testable import Accounts

@Suite("addresses, attributes and lockouts")
struct PeopleRulesTests {
    @Test(
        "a valid address is accepted as typed",
        arguments: [
            "a@b.de", "A.b+c@Example.Co.UK", "o'neil@x-y.org", String(repeating: "a", count: 64) + "@b.de",
            "a@\(String(repeating: "b", count: 63)).de",
        ])
    func addresses(_ text: String) throws {
        #expect(try Username(text).typed == text)
    }

    @Test(
        "text that is not an address is rejected",
        arguments: [
            "", "a", "@b.de", "a@", "a@b", "a@@b.de", "a@b@c.de", " a@b.de", "a@b.de ", "a b@c.de", ".a@b.de", "a.@b.de", "a..b@c.de",
            "a@-b.de", "a@b-.de", "a@b..de", "a@b.de.", "a@1.2.3.4", "é@b.de", "a@bé.de", "\"a\"@b.de", "a@[1.2.3.4]", "a\r\nBcc: x@b.de",
            String(repeating: "a", count: 65) + "@b.de", "a@" + String(repeating: "b.", count: 130) + "de",
        ])
    func noAddresses(_ text: String) {
        #expect(throws: InvalidUsername.self) { try Username(text) }
    }

    @Test("addresses are compared case-insensitively in ASCII, and masked addresses hide their lengths")
    func folding() throws {
        #expect(try Username("I.Q@EXAMPLE.COM").folded == "i.q@example.com")
        #expect(Username.fold("İ@x") == "İ@x")
        #expect(try Username("alice@mail.example.com").masked == "a***@m***.com")
        #expect(try Username("a@b.de").masked == "a***@b***.de")
    }

    private let asks: [TenantAttribute] = [
        .init(name: "displayName", type: .string), .init(name: "age", type: .integer), .init(name: "terms", type: .boolean, required: true),
        .init(name: "news", type: .boolean), .init(name: "colour", type: .string, options: [.init(value: "red"), .init(value: "blue")]),
        .init(name: "sizes", type: .string, options: [.init(value: "S"), .init(value: "M")], multiple: true),
    ]

    @Test("attribute values are accepted as JSON values and as form values")
    func attributes() throws {
        let given: JSONObject = [
            "displayName": "👩‍💻", "age": "-42", "terms": "True", "news": false, "colour": "red", "sizes": "S, M",
        ]
        #expect(
            try AttributeRules.accepted(given, by: asks)
                == ["displayName": "👩‍💻", "age": -42, "terms": true, "news": false, "colour": "red", "sizes": "S,M"])
        #expect(try AttributeRules.accepted(["displayName": "", "age": nil], by: asks) == [:])
        #expect(AttributeRules.missing(asks, in: ["age": 1]).map(\.name) == ["terms"])
    }

    @Test("all invalid attributes are reported, each with its rule")
    func wrongAttributes() throws {
        func rules(_ given: JSONObject) -> [AttributeRule] {
            do { _ = try AttributeRules.accepted(given, by: asks) } catch {
                return (error as? InvalidAttributes)?.attributes.map(\.rule) ?? []
            }
            return []
        }
        #expect(rules(["displayNam": "A", "age": "x", "terms": false, "colour": "green"]) == [.unknown, .type, .consent, .option])
        for value in ["1.0", "1e3", " 5", "5 ", "+5", "0x1", "9223372036854775808", "-"] {
            #expect(rules(["age": .string(value)]) == [.type])
        }
        for number in ["5.0", "1e3", "9223372036854775808"] {
            #expect(rules(["age": try JSONValue(parsing: number)]) == [.type])
        }
        #expect(rules(["news": "1"]) == [.type])
        #expect(rules(["displayName": 1]) == [.type])
        #expect(rules(["sizes": "S,S"]) == [.option])
        #expect(rules(["sizes": "S,"]) == [.option])
        #expect(rules(["displayName": .string(String(repeating: "😀", count: 256))]) == [])
        #expect(rules(["displayName": .string(String(repeating: "😀", count: 257))]) == [.tooLong])
    }

    @Test("text with control or formatting characters is rejected, as is a blank required value")
    func oddTexts() throws {
        let asks: [TenantAttribute] = [
            .init(name: "displayName", type: .string, required: true), .init(name: "streetAddress", type: .string),
            .init(name: "nickname", type: .string),
        ]
        func rule(_ name: String, _ text: String) -> AttributeRule? {
            do { _ = try AttributeRules.accepted([name: .string(text)], by: asks) } catch {
                return (error as? InvalidAttributes)?.attributes.first?.rule
            }
            return nil
        }
        for text in ["a\nb", "a\tb", "\u{7}", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b", "a\u{9F}"] {
            #expect(rule("displayName", text) == .disallowedCharacters, "\(text.unicodeScalars.map(\.value))")
        }
        for text in ["   ", "\u{A0}\u{3000}", "\u{200B}\u{200D}"] { #expect(rule("displayName", text) == .blank) }
        #expect(rule("nickname", "   ") == nil)
        for text in ["👩‍💻", "נעמי\u{200F}", "Zoë", "A B"] { #expect(rule("displayName", text) == nil) }
        #expect(rule("streetAddress", "Main Street 1\r\n2nd floor") == nil)
        #expect(rule("streetAddress", "Main\u{1B}[2J") == .disallowedCharacters)
    }

    @Test("a duplicate option is reported as such, and only similar names are suggested")
    func words() {
        func message(_ given: JSONObject) -> String? {
            do { _ = try AttributeRules.accepted(given, by: asks) } catch {
                return (error as? InvalidAttributes)?.attributes.first?.message
            }
            return nil
        }
        #expect(message(["sizes": "S,S"]) == "The option S occurs twice.")
        #expect(message(["sizes": "S,L"]) == "It must be chosen from: S, M.")
        #expect(message(["nme": "A"]) == "The tenant does not define this attribute.")
        #expect(message(["ag": 1]) == "The tenant does not define this attribute. Did you mean age?")
        #expect(message(["colors": "red"]) == "The tenant does not define this attribute. Did you mean colour?")
    }

    @Test("the tenth failure locks for one minute, and each later one for twice as long, up to the maximum")
    func lockout() throws {
        let policy = LockoutPolicy(threshold: 10, durationSeconds: 60, maximumSeconds: 300)
        var lockout = Lockout()
        for number in 1...9 {
            lockout.fail(nil, policy, at: 100)
            #expect(lockout.attemptsLeft(policy) == Int64(10 - number))
        }
        try lockout.check(at: 100)
        lockout.fail(nil, policy, at: 100)
        #expect(throws: AccountLocked(lockedUntil: 160, retryAfterSeconds: 1)) { try lockout.check(at: 159) }
        #expect(lockout.lock(at: 159)?.seconds == 1 && lockout.lock(at: 160) == nil)
        #expect(
            AccountLocked(lockedUntil: 160, retryAfterSeconds: 60, next: "passwordReset.start").message
                == "Too many failed attempts. All attempts fail for the next 60 s, even with correct data; to unlock immediately, call passwordReset.start."
        )
        try lockout.check(at: 160)
        lockout.fail(nil, policy, at: 160)
        #expect(lockout.lockedUntil == 280)
        lockout.fail(nil, policy, at: 280)
        lockout.fail(nil, policy, at: 520)
        #expect(lockout.lockedUntil == 820)
    }

    @Test("repeating one of the last three wrong passwords does not count")
    func sameAgain() {
        let policy = LockoutPolicy()
        var lockout = Lockout()
        for password in ["a", "b", "a", "c", "b", "a"] { lockout.fail(password, policy, at: 0) }
        #expect(lockout.failures == 3)
        lockout.fail("d", policy, at: 0)
        lockout.fail("a", policy, at: 0)
        #expect(lockout.failures == 5)
    }
}
