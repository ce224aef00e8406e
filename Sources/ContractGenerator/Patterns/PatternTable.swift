/// A pattern that is compiled to a table, with one lookup per byte and without backtracking. The generated code contains it as text, in
/// which the character `0` is 0, `1` is 1, and so on.
struct PatternTable {
    /// The next state, indexed by state × 256 + byte. State 0 rejects permanently; matching begins in state 1.
    let transitions: [Int]
    /// For each state, whether the text may end there.
    let accepts: [Bool]

    private static let largestDigit = 126 - 48

    init(_ pattern: String) throws(PatternError) {
        let automaton = PatternAutomaton(try PatternParser.parse(pattern))
        var sets: [Set<Int>] = [[], automaton.closure([automaton.start])]
        var rows: [[Int]] = [[Int](repeating: 0, count: 256)]
        while rows.count < sets.count {
            var targets = [Set<Int>](repeating: [], count: 256)
            for state in sets[rows.count] {
                for step in automaton.states[state].steps {
                    for byte in step.bytes { targets[Int(byte)].insert(step.to) }
                }
            }
            rows.append(
                targets.map { target in
                    let set = automaton.closure(target)
                    if let known = sets.firstIndex(of: set) { return known }
                    sets.append(set)
                    return sets.count - 1
                })
            guard sets.count <= Self.largestDigit else {
                throw PatternError(description: "\(pattern) needs too many states: say how long it may be with minLength and maxLength")
            }
        }
        transitions = rows.flatMap { $0 }
        accepts = sets.map { $0.contains(automaton.end) }
    }

    /// Returns whether `text` matches as a whole.
    func matches(_ text: String) -> Bool {
        accepts[text.utf8.reduce(1) { transitions[$0 << 8 | Int($1)] }]
    }

    static func digits(_ numbers: [Int]) -> String {
        String(decoding: numbers.map { UInt8($0 + 48) }, as: UTF8.self)
    }
}
