import Contract
import Foundation
import JSON
import Testing

@testable import Identity

@Suite("the diagram of sign-up in the README")
struct SignUpDiagramTests {
    /// What somebody can do, and how the diagram calls it. The attributes come on two pages or at once.
    private static let inputs: [(name: String, input: SignUpInput)] = [
        ("submitCode, a wrong one", .code(isRight: false)), ("submitCode", .code(isRight: true)), ("resendCode", .resend),
        ("submitPassword", .password), ("submitAttributes", .attributes(["size": 1])), ("submitAttributes", .attributes(["city": "B"])),
        ("submitAttributes", .attributes(["size": 1, "city": "B"])),
    ]
    private static let asked: [TenantAttribute] = [
        .init(name: "size", type: .integer, required: true), .init(name: "city", type: .string, required: true),
    ]

    private struct Edge: Hashable {
        let from, to: Flow.Stage
    }

    /// Mermaid's text of everything that the transition table can lead to, in tenants of all kinds.
    private static func diagram() -> String {
        var edges: [(edge: Edge, names: [String])] = []
        for method in [LocalAccountMethod.emailCode, .emailPassword, .either] {
            for definitions in [[], asked] {
                var reached = [SignUpState(stage: .codeRequired)]
                var next = 0
                while next < reached.count {
                    defer { next += 1 }
                    for (name, input) in inputs {
                        guard let (state, _) = try? SignUpTransition.decide(reached[next], input, method, definitions) else { continue }
                        if !reached.contains(state) { reached.append(state) }
                        let edge = Edge(from: reached[next].stage, to: state.stage)
                        let place = edges.firstIndex { $0.edge == edge } ?? edges.endIndex
                        if place == edges.endIndex { edges.append((edge, [])) }
                        if !edges[place].names.contains(name) { edges[place].names.append(name) }
                    }
                }
            }
        }
        let order: [Flow.Stage] = [.codeRequired, .passwordRequired, .attributesRequired, .completed]
        let lines = order.flatMap { from in
            order.compactMap { to in
                edges.first { $0.edge == Edge(from: from, to: to) }.map { found in
                    "    \(from.rawValue) --> \(to.rawValue): \(inputs.map(\.name).filter(found.names.contains).unique.joined(separator: "; "))"
                }
            }
        }
        return
            (["```mermaid", "stateDiagram-v2", "    [*] --> codeRequired: signUp.start"] + lines + [
                "    completed --> [*]: signIn.withContinuation", "```",
            ]).joined(separator: "\n")
    }

    @Test("it is what the transition table says")
    func isTheTable() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let begin = try #require(readme.range(of: "```mermaid\nstateDiagram-v2\n"))
        let end = try #require(readme.range(of: "\n```\n", range: begin.upperBound..<readme.endIndex))
        let diagram = Self.diagram()
        #expect(
            readme[begin.lowerBound..<end.upperBound] == diagram + "\n", "The README needs this diagram instead:\n\n\(diagram)\n")
    }
}

extension [String] {
    /// Each once, in the order in which they first come.
    fileprivate var unique: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
