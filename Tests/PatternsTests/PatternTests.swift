import Testing

@testable import Patterns

@Suite struct PatternTests {
    static let supported: [(pattern: String, accepted: [String], refused: [String])] = [
        ("[a-z]+", ["abc"], ["abc1", "1abc", ""]),
        ("a|ab", ["a", "ab"], ["abab"]),
        ("", [""], ["a"]),
        ("a|", ["a", ""], ["b"]),
        ("()", [""], ["a"]),
        // Positions
        ("^[a-z]+$", ["abc"], ["abc\n"]),
        ("^a$|b", ["a", "b"], ["ab"]),
        (#"\Aa\z"#, ["a"], ["a\n"]),
        (#"a\Z\n"#, ["a\n"], ["a"]),
        (#"a$\n"#, [], ["a\n", "a"]),
        ("a^b", [], ["ab"]),
        (#"\w+\b.\b\w+"#, ["ab cd"], ["ab  cd", "abcd "]),
        (#"a\Bb"#, ["ab"], ["a b"]),
        (#"é\ba"#, ["éa"], ["éb"]),
        ("(?m)a$\n^b", ["a\nb"], ["a\n"]),
        // Characters
        (".{2}", ["👩🏽", "é1"], ["a\n", "e\u{301}\u{301}"]),
        (#"\N\t\r\n\f\e\a"#, ["x\t\r\n\u{C}\u{1B}\u{7}"], []),
        (#"\x41\x{e9}\o{102}\0101\cA\N{U+1F389}"#, ["AéB\u{8}1\u{1}🎉"], []),
        (#"\Qa.b*\E+"#, ["a.b*", "a.b***"], ["axb*", "a.b"]),
        (#"\.\-\\\/\ü"#, [#".-\/ü"#], []),
        ("a\u{0}b", ["a\u{0}b"], []),
        ("a{x}{,2}]}", ["a{x}{,2}]}"], []),
        // Classes
        (#"\d+\s\w+"#, ["12 a_1", "1\u{B}b"], ["٣ a", "1 é"]),
        (#"\D\S\W"#, ["٣éé"], ["1éé", "a b"]),
        (#"\h\H\v\V"#, ["\u{A0}a\u{2028}b"], ["aaaa"]),
        (#"[]a-c\-é]+"#, ["]b-é"], ["d"]),
        (#"[^]a]"#, ["b", "日", "\n"], ["]", "a"]),
        (#"[\d\p{Lu}-]+"#, ["1Ä-"], ["ä"]),
        (#"[^\W_]+"#, ["a1"], ["_", "é"]),
        ("[[:alpha:][:^ascii:]]+", ["aé"], ["1"]),
        ("[a[:b]+", ["a[:b"], ["]"]),
        (#"[\b\1\x41]+"#, ["\u{8}\u{1}A"], ["b"]),
        (#"[\Q]^\E]+"#, ["]^"], ["Q"]),
        // Unicode
        (#"\p{L}+"#, ["Łukaszé", "日本"], ["a1"]),
        (#"\pN\PN\p{^Lu}\P{^Lu}"#, ["٣aaÄ"], ["٣aaa"]),
        (#"\p{ l_u }\p{L&}\p{Any}"#, ["Äa "], ["äa "]),
        // Groups and quantifiers
        ("(a|b){2,3}(?:c)?", ["ab", "babc"], ["a", "abab"]),
        ("(?<year>[0-9]{4})(?P<month>x)(?'day'y)", ["2024xy"], ["204xy"]),
        ("(?|a|b)(?n)(c)", ["ac", "bc"], ["c"]),
        ("x{2,}y{3}z{0}", ["xxyyy", "xxxyyy"], ["xyyy", "xxyyyz"]),
        ("a*?b+?c??", ["b", "aabbc"], ["a"]),
        ("(?:a*)*b", ["b", "aaab"], ["a"]),
        ("(?:(?:)|a){3}", ["", "aaa"], ["aaaa"]),
        ("a(?#a comment)+", ["aa"], ["a+"]),
        // Flags
        ("(?i)GRÜSSE", ["grüsse", "GRÜSSE"], ["grusse"]),
        ("(?i)[k-l]ς", ["KΣ", "\u{212A}σ"], ["mς"]),
        (#"(?i)[^k]\p{Lu}"#, ["aA"], ["KA", "\u{212A}A", "aa"]),
        (#"(?i)\W[[:upper:]]"#, ["éa"], ["kA"]),
        ("a(?i)b|c", ["ab", "aB", "c", "C"], ["Ab"]),
        ("(?i:a)b(?i)c(?-i)d(?^)e", ["AbCde"], ["ABcde", "abcDe"]),
        ("(?s).", ["\n"], []),
        ("(?x) a b # c\n [ ] ", ["ab "], ["a b "]),
        ("(?xx)[a b]", ["a", "b"], [" "]),
    ]

    @Test("a pattern matches the whole text or not at all", arguments: supported)
    func verdicts(pattern: String, accepted: [String], refused: [String]) throws {
        let compiled = try Pattern(pattern)
        for text in accepted { #expect(compiled.matches(text), "\(pattern) refuses \(text)") }
        for text in refused { #expect(!compiled.matches(text), "\(pattern) accepts \(text)") }
    }

    static func refusal(_ pattern: String) -> PatternRefusal? {
        do throws(PatternRefusal) {
            _ = try Pattern(pattern)
            return nil
        } catch { return error }
    }

    @Test(
        "a construct that is not supported is refused with its name and position",
        arguments: [
            ("a(?=b)", 1, "(?=", "a lookahead"), ("(?!b)", 0, "(?!", "a lookahead"), ("ü(?<=b)", 1, "(?<=", "a lookbehind"),
            ("(?<!b)", 0, "(?<!", "a lookbehind"), ("(?>a)", 0, "(?>", "an atomic group"), ("a++", 1, "++", "a possessive quantifier"),
            ("ab{2,3}+", 2, "{2,3}+", "a possessive quantifier"), ("(?x)a+ +", 5, "+ +", "a possessive quantifier"),
            (#"(a)\1"#, 3, #"\1"#, "a backreference"), (#"\12"#, 0, #"\12"#, "a backreference"),
            (#"(a)\g{1}"#, 3, #"\g"#, "a backreference"),
            (#"\k<a>"#, 0, #"\k"#, "a backreference"), ("(?P=a)", 0, "(?P=", "a backreference"), ("(?R)", 0, "(?R", "a recursion"),
            ("(a)(?1)", 3, "(?1", "a recursion"), ("(?-1)", 0, "(?-1", "a recursion"), ("(?&a)", 0, "(?&", "a recursion"),
            ("(?P>a)", 0, "(?P>", "a recursion"), (#"\g<a>"#, 0, #"\g"#, "a recursion"), ("(?(1)a)", 0, "(?(", "a condition"),
            ("(?C1)a", 0, "(?C", "a callout"), ("(*UTF)a", 0, "(*", "a control verb"), (#"a\K"#, 1, #"\K"#, "a change of the start"),
            (#"\R"#, 0, #"\R"#, "a line end of several characters"), (#"\X"#, 0, #"\X"#, "a grapheme cluster"),
            (#"\C"#, 0, #"\C"#, "a single byte"), (#"[\p{Greek}]"#, 1, #"\p{Greek}"#, "a Unicode property that is not a general category"),
            ("[[:<:]]a", 0, "[[:<:]]", "a boundary of this kind"), ("[[.a.]]", 1, "[.a.]", "a collating element"),
        ])
    func unsupported(pattern: String, position: Int, construct: String, name: String) {
        #expect(Self.refusal(pattern) == .unsupported(position: position, construct: construct, name: name))
    }

    @Test("the description of a refusal counts characters from 1")
    func description() {
        #expect(Self.refusal("ab(?=c)")?.description == "the pattern has a lookahead, `(?=`, at character 3, which is not supported")
        #expect(Self.refusal("ab)")?.description == "the pattern is not valid at character 3: `)` has no matching `(`")
    }

    @Test(
        "malformed patterns are refused with their position",
        arguments: [
            ("[a-z", 0), ("ü(", 1), ("a)", 1), ("*", 0), ("a|+", 2), ("a**", 2), ("a{2}{3}", 4), ("{2}", 0), ("^*", 1), (#"\b?"#, 2),
            ("(?i)*", 4), ("a{2,1}", 1), ("a{65536}", 1), ("\\", 0), ("[\\", 1), ("[z-a]", 1), (#"[a-\d]"#, 1), (#"[\w-z]"#, 1),
            ("[[:nothing:]]", 1), (#"\y"#, 0), (#"[\N]"#, 1), (#"\x{110000}"#, 0), (#"\x{d800}"#, 0), (#"\o{9}"#, 0), (#"\x{}"#, 0),
            (#"\p{L"#, 0), (#"\p"#, 0), (#"\c"#, 2), ("(?<a>x)(?P<a>y)", 11), ("(?<1>x)", 3), ("(?<a)", 4), ("(?z)", 2), ("(?i-", 0),
            ("(?", 0), ("(?#a", 0), ("(?--i)", 3),
        ])
    func malformed(pattern: String, position: Int) {
        guard case .malformed(let found, _)? = Self.refusal(pattern) else { return #expect(Bool(false), "\(pattern) was accepted") }
        #expect(found == position, "\(pattern)")
    }

    @Test("patterns that are long, deep or large when written out are refused")
    func hugePatterns() throws {
        #expect(Self.refusal(String(repeating: "a", count: 2049)) == .tooLong(maximumBytes: 2048))
        #expect(Self.refusal(String(repeating: "a", count: 2048)) == nil)
        func nested(_ count: Int) -> String { String(repeating: "(", count: count) + String(repeating: ")", count: count) }
        #expect(Self.refusal(nested(50)) == nil)
        #expect(Self.refusal(nested(51)) == .malformed(position: 50, reason: "groups can be nested at most 50 deep"))
        for pattern in [
            "(((a{1,999}){1,999}){1,999}){1,999}", #"(?:(?:(?:\p{L}{99}){99}){99}){99}"#, "a{10000}",
            "(?:(?:(?:(?:){65535}){65535}){65535}){65535}",
        ] {
            #expect(Self.refusal(pattern) == .tooLarge(maximumInstructions: 10_000), "\(pattern)")
        }
        #expect(try Pattern("a{9999}").matches(String(repeating: "a", count: 9999)))
    }

    @Test(
        "the number of steps is proportional to the length of the text, whatever the pattern",
        arguments: [
            "(a+)+$", "(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*x", "(.*)(.*)(.*)(.*)(.*)x", "(?:a?){200}a{200}b",
            "^(([a-z])+.)+[A-Z]([a-z])+$", "((a+)+)+$b", #"(?:.|\p{L}|\w)*x"#, "(?i)(?:[a-zß]*é|a)*b", "(.*a){30}", "((a*)*)*b",
            "(x+x+)+y", "(?:(?:a+){2,}){2,}b", "(a|a?)+$", "([a-zA-Z]+)*$",
        ])
    func exploding(pattern: String) throws {
        let pattern = try Pattern(pattern)
        for count in [30, 10_000] {
            let (isMatch, steps) = pattern.run(String(repeating: "a", count: count) + "!")
            #expect(!isMatch)
            // An instruction is reached at most once, and compared at most once, between two characters.
            #expect(steps <= 2 * pattern.automaton.instructions.count * (count + 2))
        }
    }

    @Test("ordinary patterns match long texts, such as a name of 10,000 emoji")
    func longTexts() throws {
        let name = String(repeating: "👩‍👩‍👧‍👦", count: 10_000)
        #expect(try Pattern("[^<>]+").matches(name))
        #expect(try !Pattern("[^<>]*>").matches(name))
        #expect(try !Pattern(".{1,256}").matches(name))
        #expect(try Pattern("(?:[a-z]+ ?)+").matches(String(repeating: "word ", count: 2_000)))
    }

    @Test("the portable dialect refuses what other languages match differently")
    func portable() throws {
        for pattern in [
            "(?i)a", "(?<n>a)", "a*?", #"\h"#, "[[:alpha:]]", #"\Qa\E"#, "{", "}", "]", "[]a]", #"\ba"#,
            #"\x{41}"#, #"\xe9"#, "(?#a)",
        ] {
            #expect(throws: PatternRefusal.self, "\(pattern)") { try PatternTree(pattern, .portable) }
            #expect(throws: Never.self, "\(pattern)") { try PatternTree(pattern) }
        }
    }
}
