import Patterns
import Synchronization

/// Thrown for a pattern of a schema that cannot become a table.
struct PatternError: Error, CustomStringConvertible {
    let description: String
}

/// A pattern that is compiled to a table, with one lookup per byte and without backtracking. The generated code contains it as text, in
/// which the character `0` is 0, `1` is 1, and so on.
struct PatternTable {
    /// The next state, indexed by state × 256 + byte. State 0 rejects permanently; matching begins in state 1.
    let transitions: [Int]
    /// For each state, whether the text may end there.
    let accepts: [Bool]

    private static let largestDigit = 126 - 48
    /// The compiled patterns. The examples of the methods check the same few patterns thousands of times.
    private static let compiled = Mutex<[String: PatternTable]>([:])

    /// - Throws: `PatternError` if the pattern is not portable, is not enclosed in `^` and `$`, or needs too many states.
    init(_ pattern: String) throws(PatternError) {
        if let known = Self.compiled.withLock({ $0[pattern] }) {
            self = known
            return
        }
        self = try PatternTable(compiling: pattern)
        Self.compiled.withLock { $0[pattern] = self }
    }

    private init(compiling pattern: String) throws(PatternError) {
        guard pattern.hasPrefix("^"), pattern.hasSuffix("$"), !pattern.hasSuffix("\\$") else {
            throw PatternError(description: "a pattern must begin with ^ and end with $")
        }
        let automaton: PatternAutomaton
        do { automaton = try PatternAutomaton(PatternTree(String(pattern.dropFirst().dropLast()), .portable)) } catch {
            throw PatternError(description: "\(error), in \(pattern) without its ^ and $")
        }
        let table = try ByteTable(automaton, of: pattern)
        var states: [ByteTable.State] = [.between([]), .between(table.closure([automaton.start]))]
        var rows: [[Int]] = [[Int](repeating: 0, count: 256)]
        while rows.count < states.count {
            rows.append(
                table.row(of: states[rows.count]).map { state in
                    if let known = states.firstIndex(of: state) { return known }
                    states.append(state)
                    return states.count - 1
                })
            guard states.count <= Self.largestDigit else {
                throw PatternError(description: "\(pattern) needs too many states: limit the length with minLength and maxLength")
            }
        }
        transitions = rows.flatMap { $0 }
        accepts = states.map { $0.accepts(0) }
    }

    /// Returns whether `text` matches as a whole.
    func matches(_ text: String) -> Bool {
        accepts[text.utf8.reduce(1) { transitions[$0 << 8 | Int($1)] }]
    }

    static func digits(_ numbers: [Int]) -> String {
        String(decoding: numbers.map { UInt8($0 + 48) }, as: UTF8.self)
    }
}

/// The transitions of an automaton by byte.
private struct ByteTable {
    enum State: Equatable {
        /// Between two scalars, with the instructions that are reached.
        case between(Set<Int>)
        /// Inside a scalar of several bytes, with the number of missing bytes and the instructions that follow.
        case inside(missing: Int, Set<Int>)

        func accepts(_ end: Int) -> Bool { if case .between(let reached) = self { reached.contains(end) } else { false } }
    }

    private let instructions: [PatternAutomaton.Instruction]
    private let sets: [(ascii: Set<UInt8>, beyondASCII: Bool)]

    init(_ automaton: PatternAutomaton, of pattern: String) throws(PatternError) {
        instructions = automaton.instructions
        var sets: [(ascii: Set<UInt8>, beyondASCII: Bool)] = []
        for set in automaton.sets {
            guard let portable = set.portable else { throw PatternError(description: "only ASCII letters can be named in \(pattern)") }
            sets.append(portable)
        }
        self.sets = sets
        for case .assert in instructions { throw PatternError(description: "^ and $ must enclose \(pattern) and not occur inside") }
    }

    /// Returns the state that follows each byte. The text is known to be valid UTF-8.
    func row(of state: State) -> [State] {
        let nothing = State.between([])
        var row = [State](repeating: nothing, count: 256)
        switch state {
        case .between(let reached):
            var targets = [Set<Int>](repeating: [], count: 128)
            var beyond: Set<Int> = []
            for case .consume(let set, let next) in reached.map({ instructions[$0] }) {
                for byte in sets[set].ascii { targets[Int(byte)].insert(next) }
                if sets[set].beyondASCII { beyond.insert(next) }
            }
            for byte in 0..<128 { row[byte] = .between(closure(targets[byte])) }
            guard !beyond.isEmpty else { return row }
            beyond = closure(beyond)
            for byte in 0xC2...0xF4 { row[byte] = .inside(missing: byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3, beyond) }
        case .inside(let missing, let following):
            for byte in 0x80...0xBF { row[byte] = missing == 1 ? .between(following) : .inside(missing: missing - 1, following) }
        }
        return row
    }

    /// Returns `all` and the instructions that are reachable from them without consuming a scalar.
    func closure(_ all: Set<Int>) -> Set<Int> {
        var reached = all
        var waiting = Array(all)
        while let index = waiting.popLast() {
            guard case .fork(let first, let second) = instructions[index] else { continue }
            for next in [first, second] where reached.insert(next).inserted { waiting.append(next) }
        }
        return reached
    }
}
