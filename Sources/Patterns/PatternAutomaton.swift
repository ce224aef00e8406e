/// A nondeterministic finite automaton over Unicode scalars (Thompson's construction).
public struct PatternAutomaton: Sendable {
    public enum Instruction: Sendable {
        /// Consumes one scalar of the set with this index in `sets`.
        case consume(set: Int, next: Int)
        case fork(Int, Int)
        case assert(PatternAssertion, next: Int)
        /// The text may end here.
        case accept
    }

    public let sets: [ScalarSet]
    public private(set) var instructions: [Instruction] = [.accept]
    public private(set) var start = 0

    /// The maximum number of instructions.
    public static let maximumInstructions = 10_000
    private var visits = 0

    /// - Throws: `PatternRefusal.tooLarge`.
    public init(_ tree: PatternTree) throws(PatternRefusal) {
        sets = tree.sets
        start = try append(tree.root, before: 0)
    }

    private mutating func append(_ instruction: Instruction) throws(PatternRefusal) -> Int {
        guard instructions.count < Self.maximumInstructions else { throw .tooLarge(maximumInstructions: Self.maximumInstructions) }
        instructions.append(instruction)
        return instructions.count - 1
    }

    /// Appends the instructions of `node`, after which the text continues at `next`, and returns the first of them.
    private mutating func append(_ node: PatternNode, before next: Int) throws(PatternRefusal) -> Int {
        // Repetitions of empty groups append no instructions, so their number is limited too.
        visits += 1
        guard visits <= 4 * Self.maximumInstructions else { throw .tooLarge(maximumInstructions: Self.maximumInstructions) }
        switch node {
        case .set(let set): return try append(.consume(set: set, next: next))
        case .assertion(let assertion): return try append(.assert(assertion, next: next))
        case .sequence(let nodes):
            var at = next
            for node in nodes.reversed() { at = try append(node, before: at) }
            return at
        case .either(let nodes):
            var at = try append(nodes[nodes.count - 1], before: next)
            for node in nodes.dropLast().reversed() { at = try append(.fork(append(node, before: next), at)) }
            return at
        case .repeated(let node, let least, let most):
            var at = next
            if let most {
                for _ in least..<most { at = try append(.fork(append(node, before: at), next)) }
            } else {
                at = try append(.fork(next, next))
                instructions[at] = .fork(try append(node, before: at), next)
            }
            for _ in 0..<least { at = try append(node, before: at) }
            return at
        }
    }
}
