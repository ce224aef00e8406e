import Glibc
import Platform
import Testing

@testable import Patterns

@Suite struct BoundedPatternTests {
    @Test(
        "a pattern must match the whole text, unless it may match anywhere",
        arguments: [
            ("[a-z]+", "abc", true, true), ("[a-z]+", "abc1", false, true), ("^[a-z]+$", "abc", true, true),
            ("^[a-z]+$", "abc\n", false, false),
            ("a|ab", "ab", true, true), ("", "", true, true), ("", "a", false, true), ("(?i)GRÜSSE", "grüsse", true, true),
            ("\\p{L}+", "Łukaszé", true, true), ("\\w+", "é", false, false), ("\\d+", "٣", false, false), (".{2}", "👩🏽", true, true),
            ("(\\w)\\1", "aa", true, true), ("[^@]+@[^@]+", "a@b@c", false, true), ("(?=.*\\d)(?=.*[a-z]).{8,}", "abcdefg1", true, true),
            ("a\u{0}b", "a\u{0}b", true, true), ("(?C1)a", "a", true, true),
        ])
    func verdicts(pattern: String, text: String, whole: Bool, anywhere: Bool) throws {
        #expect(try BoundedPattern(pattern).matches(text) == (whole ? .yes : .no))
        #expect(try BoundedPattern(pattern, matching: .anywhere).matches(text) == (anywhere ? .yes : .no))
    }

    static func refusal(_ pattern: String) -> PatternRefusal? {
        do throws(PatternRefusal) {
            _ = try BoundedPattern(pattern)
            return nil
        } catch { return error }
    }

    @Test(
        "malformed patterns are rejected with the offset and the reason",
        arguments: [
            ("[a-z", 4, "missing terminating ]"), ("ü(", 2, "missing closing parenthesis"), ("a)", 1, "unmatched closing parenthesis"),
            ("*", 0, "quantifier does not follow"), ("a{2,1}", 5, "out of order"), ("\\", 1, "\\ at end of pattern"),
            ("[z-a]", 3, "out of order"),
            ("\\p{Nothing}", 11, "unknown property"), ("(?<=a+)b", 0, "lookbehind assertion is not fixed length"),
            ("\\C", 2, "\\C is disabled"),
            ("(?P<a>x)(?P<a>y)", 14, "two named subpatterns"), ("\\1", 1, "reference to non-existent subpattern"),
        ])
    func malformed(pattern: String, offset: Int, reason: String) {
        guard case .malformed(let at, let why)? = Self.refusal(pattern) else { return #expect(Bool(false), "\(pattern) was taken") }
        #expect(at == offset)
        #expect(why.contains(reason), "\(why)")
    }

    @Test("patterns that take long to compile or much memory are rejected quickly")
    func hugePatterns() {
        let start = Monotonic.nanoseconds()
        #expect(Self.refusal(String(repeating: "a", count: 2049)) == .tooLong(maximumBytes: 2048))
        for pattern in [
            String(repeating: "(", count: 500) + String(repeating: ")", count: 500), "(((a{1,999}){1,999}){1,999}){1,999}",
            "(?:(?:(?:\\p{L}{99}){99}){99}){99}",
        ] {
            guard case .malformed? = Self.refusal(pattern) else { return #expect(Bool(false), "\(pattern) was taken") }
        }
        #expect(Monotonic.nanoseconds() - start < 20_000_000_000)
    }

    /// The processor time of this thread, in milliseconds.
    static func processorMilliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    @Test(
        "matching with catastrophic backtracking is abandoned in bounded time, on short and long texts",
        arguments: [
            "(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*x", "(.*)(.*)(.*)(.*)(.*)x", "(?:a?){200}a{200}b", "^(([a-z])+.)+[A-Z]([a-z])+$",
            "(a*)*\\1b",
            "(?:(a+)\\1*)*b", "(?R)?a+b", "(a(?1)?)+b", "((a+)+)+$b", "(?:.|\\p{L}|\\w)*x", "(?s)(?=(.*)).*\\1.*\\1b", "(?:(?=a*+b)|a)*b",
            "(?:a*+b|a)*b", "(.+)\\1\\1\\1b", "(?i)(?:[a-zß]*+é|a)*b", "(?:(?=(.*)).)*b",
        ])
    func exploding(pattern: String) throws {
        for count in [30, 5_000, 200_000] {
            for extent in [BoundedPattern.Extent.whole, .anywhere] {
                let pattern = try BoundedPattern(pattern, matching: extent)
                // The text contains every letter that the patterns require; otherwise PCRE2 rejects it without
                // matching.
                let text = String(repeating: "a", count: count) + "bxAb!"
                // On a busy machine the measured time includes other work, so one measurement out of five within the
                // limit suffices.
                let isBounded = try (0..<5).contains { _ in
                    let start = Self.processorMilliseconds()
                    let verdict = pattern.matches(text)
                    if extent == .whole { try #require(verdict != .yes) }
                    return Self.processorMilliseconds() - start < 400
                }
                #expect(isBounded, "\(pattern.text) on \(count)")
            }
        }
        #expect(try BoundedPattern("(a+)+b").matches(String(repeating: "a", count: 60) + "b!") == .tooExpensive)
    }

    @Test("ordinary patterns match long texts, such as a name of 10,000 emoji")
    func longTexts() throws {
        let name = String(repeating: "👩‍👩‍👧‍👦", count: 10_000)
        #expect(try BoundedPattern("[^<>]+").matches(name) == .yes)
        #expect(try BoundedPattern("[^<>]*>").matches(name) == .no)
        #expect(try BoundedPattern(".{1,256}").matches(name) == .no)
        #expect(try BoundedPattern("(?:[a-z]+ ?)+").matches(String(repeating: "word ", count: 2_000)) == .yes)
    }

    @Test("each limit is enforced")
    func limits() throws {
        let text = String(repeating: "a", count: 20_000)
        func verdict(_ limits: BoundedPattern.Limits) throws -> BoundedPattern.Verdict {
            try BoundedPattern("(?:a|b)*", limits: limits).matches(text)
        }
        #expect(try verdict(.init()) == .yes)
        #expect(try verdict(.init(steps: 1000)) == .tooExpensive)
        #expect(try verdict(.init(depth: 1000)) == .tooExpensive)
        #expect(try verdict(.init(heapKibibytes: 64)) == .tooExpensive)
        #expect(try verdict(.init(milliseconds: 0)) == .tooExpensive)
    }

    @Test("threads can share a pattern")
    func threads() async throws {
        let pattern = try BoundedPattern("[a-z]+\\d")
        let good = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 { group.addTask { pattern.matches("abc\(number % 10)") == .yes && pattern.matches("abc") == .no } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 200)
    }

    @Test("a missing PCRE2 library is reported with the command that installs it")
    func missing() async {
        await #expect(processExitsWith: .success) {
            do throws(PatternRefusal) {
                _ = try BoundedPattern("a", matching: .whole, limits: .init(), library: "libpcre2-nowhere.so.0")
            } catch {
                // A missing library is not cached: the next pattern loads it.
                exit("\(error)".contains("apt-get install libpcre2-8-0") && (try? BoundedPattern("a")) != nil ? EXIT_SUCCESS : EXIT_FAILURE)
            }
        }
    }
}
