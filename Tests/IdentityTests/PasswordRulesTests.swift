import Contract
import Testing

@testable import Identity

@Suite("what passwords must be like (native-auth.md 1.7)")
struct PasswordRulesTests {
    private func rules(_ password: String, _ policy: PasswordPolicy = PasswordPolicy(), names: [String] = [], isCurrent: Bool = false)
        -> [PasswordRule]
    {
        PasswordRules.failures(of: password, under: policy, names: names, isCurrent: isCurrent).map(\.rule)
    }

    @Test("a password is fine, or everything that is wrong with it is said in order")
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

    @Test("lengths are inclusive, and a blank is a symbol")
    func borders() {
        #expect(rules("Kx9vTpwq") == [])
        #expect(rules("Kx9vTpw") == [.tooShort])
        #expect(rules(String(repeating: "Kx9 vTpw", count: 32)) == [])
        #expect(rules("kvz gtr wp9") == [])
        #expect(rules("kvzgtrwpa", PasswordPolicy(minimumClasses: 1)) == [])
        #expect(rules("password", PasswordPolicy(minimumClasses: 1, checksBanned: false)) == [])
    }

    @Test(
        "the scoring gives what its description gives",
        arguments: [
            ("Bl@nK", ["blank"], [], true), ("abcdeg", ["abcdef"], [], true), ("abcdefg", ["abcdef"], [], true),
            ("abcde", ["abcdef"], [], true), ("p0LL23fb", [], ["Poll"], true), ("C0ntos0Blank12", ["contoso", "blank"], [], true),
            ("ContoS0Bl@nkf9!", ["contoso", "blank"], [], false), ("Li9xTrQm", [], ["Li"], false),
        ] as [(String, [String], [String], Bool)])
    func banned(password: String, terms: [String], names: [String], isBanned: Bool) {
        #expect(BannedPasswords.isBanned(password, terms: terms, names: names) == isBanned)
    }

    @Test("each banned term is one point, and each character outside of them")
    func scores() {
        #expect(BannedPasswords.score(of: "C0ntos0Blank12", terms: ["contoso", "blank"]) == 4)
        #expect(BannedPasswords.score(of: "ContoS0Bl@nkf9!", terms: ["contoso", "blank"]) == 5)
        #expect(BannedPasswords.score(of: "contosocontosocontoso", terms: ["contoso"]) == 3)
    }
}
