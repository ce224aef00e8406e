/// A nondeterministic finite automaton over UTF-8 bytes (Thompson's construction).
struct PatternAutomaton {
    struct State {
        var silent: [Int] = []
        var steps: [(bytes: Set<UInt8>, to: Int)] = []
    }

    private(set) var states: [State] = []
    let start: Int
    private(set) var end: Int

    init(_ node: PatternNode) {
        states = [State()]
        start = 0
        end = 0
        end = append(node, from: start)
    }

    private mutating func fresh() -> Int {
        states.append(State())
        return states.count - 1
    }

    private mutating func append(_ node: PatternNode, from: Int) -> Int {
        switch node {
        case .letters(let letters): return append(letters, from: from)
        case .sequence(let nodes): return nodes.reduce(from) { append($1, from: $0) }
        case .either(let nodes):
            let to = fresh()
            for node in nodes {
                let inner = fresh()
                states[from].silent.append(inner)
                states[append(node, from: inner)].silent.append(to)
            }
            return to
        case .repeated(let node, let least, let most):
            var at = from
            for _ in 0..<least { at = append(node, from: at) }
            guard let most else { return loop(node, from: at) }
            let to = fresh()
            states[at].silent.append(to)
            for _ in least..<most {
                at = append(node, from: at)
                states[at].silent.append(to)
            }
            return to
        }
    }

    private mutating func loop(_ node: PatternNode, from: Int) -> Int {
        let inner = fresh()
        states[from].silent.append(inner)
        states[append(node, from: inner)].silent.append(inner)
        let to = fresh()
        states[inner].silent.append(to)
        return to
    }

    /// Appends one scalar. A non-ASCII scalar has two to four bytes; the input is known to be valid UTF-8.
    private mutating func append(_ letters: Letters, from: Int) -> Int {
        let to = fresh()
        if !letters.ascii.isEmpty { states[from].steps.append((letters.ascii, to)) }
        guard letters.beyondASCII else { return to }
        var following = to
        for lead in [Set<UInt8>(0xC2...0xDF), Set(0xE0...0xEF), Set(0xF0...0xF4)] {
            let tail = fresh()
            states[tail].steps.append((Set(0x80...0xBF), following))
            states[from].steps.append((lead, tail))
            following = tail
        }
        return to
    }

    /// Returns `all` and the states that are reachable from them without consuming a byte.
    func closure(_ all: Set<Int>) -> Set<Int> {
        var reached = all
        var waiting = Array(all)
        while let state = waiting.popLast() {
            for next in states[state].silent where reached.insert(next).inserted { waiting.append(next) }
        }
        return reached
    }
}
