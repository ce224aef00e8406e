import Contract
import Testing

@testable import Accounts

@Suite("password policies")
struct PasswordRulesTests {
    private func rules(
        _ password: String, _ policy: PasswordPolicy = PasswordPolicy(), context: ContextWords = ContextWords(), isCurrent: Bool = false
    )
        -> [PasswordRule]
    {
        PasswordRules.failures(of: password, under: policy, context: context, isCurrent: isCurrent).map(\.rule)
    }

    @Test("all violated rules are reported in order")
    func everyRule() {
        #expect(rules("correct Horse 9") == [])
        #expect(rules("Zx9") == [.tooShort, .banned])
        #expect(rules("Kx9 vTpä") == [.disallowedCharacters])
        #expect(rules("Kx9 vTp\t") == [.disallowedCharacters])
        #expect(rules(String(repeating: "Kx9 vTpw", count: 33)) == [.tooLong])
        #expect(rules("kvzgtrwp9") == [.tooWeak])
        #expect(rules("") == [.tooShort, .tooWeak, .banned])
        #expect(rules("correct Horse 9", isCurrent: true) == [.recentlyUsed])
        #expect(rules("ä", isCurrent: true) == [.disallowedCharacters, .tooShort, .tooWeak, .banned, .recentlyUsed])
    }

    @Test("length limits are inclusive, and a space counts as a symbol")
    func borders() {
        #expect(rules("Kx9vTpwq") == [])
        #expect(rules("Kx9vTpw") == [.tooShort])
        #expect(rules(String(repeating: "Kx9 vTpw", count: 32)) == [])
        #expect(rules("kvz gtr wp9") == [])
        #expect(rules("kvzgtrwpa", PasswordPolicy(minimumClasses: 1)) == [])
        #expect(rules("password", PasswordPolicy(minimumClasses: 1, checksBanned: false)) == [])
    }

    @Test(
        "banned passwords are found as in the documentation of Microsoft Entra password protection",
        arguments: [
            ("Bl@nK", ["blank"], [], true), ("abcdeg", ["abcdef"], [], true), ("abcdefg", ["abcdef"], [], true),
            ("abcde", ["abcdef"], [], true), ("p0LL23fb", [], ["Poll"], true), ("C0ntos0Blank12", ["contoso", "blank"], [], true),
            ("ContoS0Bl@nkf9!", ["contoso", "blank"], [], false), ("Li9xTrQm", [], ["Li"], false),
        ] as [(String, [String], [String], Bool)])
    func banned(password: String, terms: [String], names: [String], isBanned: Bool) {
        let isFound = ContextWords(names: names).refuse(password) || BannedPasswords.isBanned(password, terms: terms)
        #expect(isFound == isBanned)
    }

    @Test(
        "a password with little more than the address or a name is rejected",
        arguments: [
            // The address and its local part, including common letter substitutions.
            ("Alice9@example.com", "alice9@example.com", [], true), ("@lice9aExample.c0m", "alice9@example.com", [], true),
            ("Alice9@example.com 2026", "alice9@example.com", [], true), ("Bob.Builder77", "bob.builder77@example.com", [], true),
            ("B0b.Bui1der77", "bob.builder77@example.com", [], true), ("BobBuilder77", "bob.builder77@example.com", [], true),
            // Parts of the local part as whole words, with fewer than eight other characters.
            ("Builder-2026", "bob.builder77@example.com", [], true), ("2026!Builder", "bob.builder77@example.com", [], true),
            ("Builder-2026-a", "bob.builder77@example.com", [], true), ("Builder-2026-ab", "bob.builder77@example.com", [], false),
            ("Rebuilders-9", "bob.builder77@example.com", [], false), ("AliceAlice9", "alice9@example.com", [], true),
            // Several words count together, also those of the domain.
            ("Alice9@example.org", "alice9@example.com", [], true), ("alice.9.AliceX", "alice9@example.com", [], true),
            ("Alice-at-example-26", "alice9@shop.example.com", [], true), ("Example-2026-x", "alice9@example.com", [], true),
            ("correct horse battery staple", "correct.horse@example.com", [], false),
            // Parts with fewer than four characters are ignored.
            ("Bob-Kx9vTp", "bob.builder77@example.com", [], false), ("al9-Kx9vTp", "al9@example.com", [], false),
            ("correct horse battery staple", "horse@example.com", [], false), ("horse-battery", "horse@example.com", [], false),
            ("horse-9Batt", "horse@example.com", [], true),
            // Display names.
            ("Liddell-1865", nil, ["Liddell"], true), ("Alice Liddell!1", nil, ["Alice Liddell"], true),
            ("AliceLiddell!1", nil, ["Alice Liddell"], true), ("$avannah-99", nil, ["Savannah"], true),
            ("Savannah-99", nil, ["Anna"], false), ("Müller-2026x", nil, ["Müller"], true), ("Kx9vTpwq", nil, ["Alice Liddell"], false),
        ] as [(String, String?, [String], Bool)])
    func context(password: String, address: String?, names: [String], isRefused: Bool) {
        #expect(ContextWords(addresses: [address].compactMap { $0 }, displayNames: names).refuse(password) == isRefused)
    }

    @Test("given name, surname and tenant name are found anywhere in the password")
    func names() {
        let context = ContextWords(names: ["Anna", "Contoso", "Li"])
        for password in ["Savannah-99", "Contoso is great 1", "C0nt0so and much more than that"] { #expect(context.refuse(password)) }
        for password in ["Lily of the valley 9", "correct horse 9"] { #expect(!context.refuse(password)) }
    }

    @Test("a password similar to the address violates one rule, which can be disabled")
    func contextRule() {
        let context = ContextWords(addresses: ["alice9@example.com"])
        #expect(rules("Alice9@example.com", context: context) == [.context])
        #expect(rules("Alice9@example.com", PasswordPolicy(checksBanned: false), context: context) == [])
    }

    @Test(
        "with characters unicode, every assigned character except controls is accepted, and characters count after normalization",
        arguments: [
            ("zoé kvzgt", []), ("zoe\u{301} kvzgt", []), ("e\u{301}a\u{301}kvzgt", [.tooShort]), ("中文密码🔑kvz", []),
            ("kvzgt\u{7}trw", [.disallowedCharacters]), ("kvzgt\u{378}trw", [.disallowedCharacters]),
        ] as [(String, [PasswordRule])])
    func unicode(password: String, expected: [PasswordRule]) {
        #expect(rules(password, PasswordPolicy(characters: .unicode)) == expected)
    }

    @Test("asvs 6.2.4: with checksCommon, listed passwords are refused in any case, and phrases are not")
    func common() {
        let policy = PasswordPolicy(minimumClasses: 1, checksBanned: false, checksCommon: true)
        for password in ["iloveyou2", "ILoveYou2", "qwertyuiop", "trustno1"] { #expect(rules(password, policy) == [.common]) }
        for password in ["correct horse battery staple", "kvzgtrwpq"] { #expect(rules(password, policy) == []) }
    }

    @Test("asvs 6.2.11: a banned term is context if checksContext is set")
    func bannedTermsAsContext() {
        let policy = PasswordPolicy(minimumClasses: 1, checksContext: true, bannedTerms: ["wintergreen"])
        #expect(rules("Wintergreen-kx7", policy) == [.context])
        #expect(rules("Wintergreen and many other words", policy) == [])
    }

    @Test("each banned term and each other character counts one point")
    func scores() {
        #expect(BannedPasswords.score(of: "C0ntos0Blank12", terms: ["contoso", "blank"]) == 4)
        #expect(BannedPasswords.score(of: "ContoS0Bl@nkf9!", terms: ["contoso", "blank"]) == 5)
        #expect(BannedPasswords.score(of: "contosocontosocontoso", terms: ["contoso"]) == 3)
    }
}
