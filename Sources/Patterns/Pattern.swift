/// A regular expression that an administrator wrote and that is matched against untrusted text. It must match the whole text.
///
/// The syntax is that of Perl, without what requires backtracking. `.` matches one Unicode scalar except a line feed; `\p{L}` any letter;
/// `\d`, `\w` and `\s` match ASCII only. `$` matches only at the end of the text and not before a final line feed.
///
/// All alternatives are followed at once, so the time is at most proportional to the product of the number of instructions and the length
/// of the text.
public struct Pattern: Sendable {
    /// The maximum length of a pattern, in bytes.
    public static let maximumBytes = 2048

    let automaton: PatternAutomaton
    private let ignoresCase: Bool

    /// Compiles a pattern.
    ///
    /// - Throws: `PatternRefusal`.
    public init(_ text: String) throws(PatternRefusal) {
        guard text.utf8.count <= Self.maximumBytes else { throw .tooLong(maximumBytes: Self.maximumBytes) }
        automaton = try PatternAutomaton(PatternTree(text))
        ignoresCase = automaton.sets.contains(where: \.ignoresCase)
    }

    /// Returns whether the whole text matches.
    public func matches(_ text: String) -> Bool { run(text).isMatch }

    /// Matches a text, and returns the number of instructions that were looked at.
    func run(_ text: String) -> (isMatch: Bool, steps: Int) {
        var run = PatternRun(automaton, Array(text.unicodeScalars))
        return (run.isMatch(ignoringCase: ignoresCase), run.steps)
    }
}

/// One match of an automaton against a text.
private struct PatternRun {
    private let automaton: PatternAutomaton
    private let text: [Unicode.Scalar]
    /// The position at which each instruction was reached last, plus 1.
    private var reached: [Int]
    /// The position at which each set was compared last, plus 1, with the result.
    private var compared: [(position: Int, contains: Bool)]
    private var waiting: [Int] = []
    private var accepts = false
    private(set) var steps = 0

    init(_ automaton: PatternAutomaton, _ text: [Unicode.Scalar]) {
        self.automaton = automaton
        self.text = text
        reached = [Int](repeating: 0, count: automaton.instructions.count)
        compared = [(Int, Bool)](repeating: (0, false), count: automaton.sets.count)
    }

    mutating func isMatch(ignoringCase: Bool) -> Bool {
        var current: [Int] = []
        reach(automaton.start, at: 0, into: &current)
        for (position, scalar) in text.enumerated() {
            if current.isEmpty { return false }
            accepts = false
            let variants = ignoringCase ? CaseVariants.of(scalar) : []
            var following: [Int] = []
            for index in current {
                guard case .consume(let set, let next) = automaton.instructions[index] else { continue }
                steps += 1
                if compared[set].position != position + 1 {
                    compared[set] = (position + 1, automaton.sets[set].contains(scalar, variants: variants))
                }
                if compared[set].contains { reach(next, at: position + 1, into: &following) }
            }
            current = following
        }
        return accepts
    }

    /// Adds the instructions that consume a scalar at `position` and are reachable from `instruction`.
    private mutating func reach(_ instruction: Int, at position: Int, into consuming: inout [Int]) {
        waiting.append(instruction)
        while let index = waiting.popLast() {
            guard reached[index] != position + 1 else { continue }
            reached[index] = position + 1
            steps += 1
            switch automaton.instructions[index] {
            case .consume: consuming.append(index)
            case .fork(let first, let second):
                waiting.append(second)
                waiting.append(first)
            case .assert(let assertion, let next): if holds(assertion, at: position) { waiting.append(next) }
            case .accept: accepts = true
            }
        }
    }

    private func holds(_ assertion: PatternAssertion, at position: Int) -> Bool {
        switch assertion {
        case .textStart: position == 0
        case .textEnd: position == text.count
        case .lastLineEnd: position == text.count || (position == text.count - 1 && text[position] == "\n")
        case .lineStart: position == 0 || (position < text.count && text[position - 1] == "\n")
        case .lineEnd: position == text.count || text[position] == "\n"
        case .wordBoundary: isWord(position - 1) != isWord(position)
        case .noWordBoundary: isWord(position - 1) == isWord(position)
        }
    }

    private func isWord(_ position: Int) -> Bool {
        guard text.indices.contains(position) else { return false }
        switch text[position] {
        case "a"..."z", "A"..."Z", "0"..."9", "_": return true
        default: return false
        }
    }
}
