import Testing

@testable import ContractGenerator

/// Compilation of patterns into tables.
@Suite struct PatternTableTests {
    static let cases: [(pattern: String, accepted: [String], refused: [String])] = [
        ("^abc$", ["abc"], ["", "ab", "abcd", "xabc"]),
        ("^a|bc$", ["a", "bc"], ["abc", "ac", "b"]),
        ("^(?:ab)+c?$", ["ab", "abab", "ababc"], ["", "aba", "c"]),
        ("^(a|b){2,3}$", ["ab", "bba"], ["a", "abab"]),
        ("^x{3}$", ["xxx"], ["xx", "xxxx"]),
        ("^x{2,}$", ["xx", "xxxxx"], ["x"]),
        (#"^\d+\.\d$"#, ["1.2", "12.3"], ["1x2", "1.", "٣.2"]),
        (#"^[\w.-]+$"#, ["a_9.-"], ["é", "a b"]),
        (#"^[^a-c\]]$"#, ["d", "é", "日", "🎉", "\n"], ["a", "]", "", "éé"]),
        (#"^\S{2}$"#, ["éa", "🎉🎉"], ["🎉", "a ", "aaa"]),
        ("^.$", ["a", "ü"], ["\n", ""]),
        (#"^[\x00-\x1f]$"#, ["\u{1}", "\u{1F}"], [" ", "a"]),
        ("^$", [""], ["a"]),
        ("^(?:a*)*b$", ["b", "aaab"], [String(repeating: "a", count: 50_000)]),
    ]

    @Test("a table accepts exactly the texts that its pattern matches", arguments: cases)
    func table(pattern: String, accepted: [String], refused: [String]) throws {
        let table = try PatternTable(pattern)
        for text in accepted { #expect(table.matches(text), "\(pattern) refuses \(text)") }
        for text in refused { #expect(!table.matches(text), "\(pattern) takes \(text.prefix(20))") }
    }

    @Test(
        "malformed, unanchored, too large, non-portable and non-linear patterns are rejected",
        arguments: [
            "abc", "^abc", #"^a\$"#, "^(a$", "^a)$", "^[a$", #"^(a)\1$"#, "^(?=a)$", "^(?!a)$", #"^\bx$"#, #"^\p{L}$"#, "^é$", "^a{2,1}$",
            "^a{x}$", "^*a$", "^[z-a]$",
            #"^[\w-z]$"#, "^a{500}$", "^a^$",
        ])
    func refused(pattern: String) {
        #expect(throws: PatternError.self) { try PatternTable(pattern) }
    }
}
