import Contract
import Foundation
import JSON
import Testing

@testable import Accounts

@Suite("the sign-up diagram in the guide")
struct SignUpDiagramTests {
    /// Each input with its label in the diagram. The attributes are submitted in two calls or in one.
    private static let inputs: [(name: String, input: SignUpInput)] = [
        ("submitCode with a wrong code", .code(isRight: false)), ("submitCode", .code(isRight: true)), ("resendCode", .resend),
        ("submitPassword", .password), ("passkey.finishRegistration", .passkey), ("submitAttributes", .attributes(["size": 1])),
        ("submitAttributes", .attributes(["city": "B"])),
        ("submitAttributes", .attributes(["size": 1, "city": "B"])),
    ]
    private static let asked: [TenantAttribute] = [
        .init(name: "size", type: .integer, required: true), .init(name: "city", type: .string, required: true),
    ]

    private struct Edge: Hashable {
        let from, to: Flow.Stage
    }

    /// The Mermaid source of every transition in the table, for all sign-up methods.
    private static func diagram() -> String {
        var edges: [(edge: Edge, names: [String])] = []
        for method in [LocalAccountMethod.emailCode, .emailPassword, .either, .passkey] {
            for definitions in [[], asked] {
                var reached = [SignUpState(stage: .codeRequired)]
                var next = 0
                while next < reached.count {
                    defer { next += 1 }
                    for (name, input) in inputs {
                        guard let (state, _) = try? SignUpTransition.decide(reached[next], input, method, attributes: definitions) else {
                            continue
                        }
                        if !reached.contains(state) { reached.append(state) }
                        let edge = Edge(from: reached[next].stage, to: state.stage)
                        let place = edges.firstIndex { $0.edge == edge } ?? edges.endIndex
                        if place == edges.endIndex { edges.append((edge, [])) }
                        if !edges[place].names.contains(name) { edges[place].names.append(name) }
                    }
                }
            }
        }
        let order: [Flow.Stage] = [.codeRequired, .passwordRequired, .passkeyRequired, .attributesRequired, .completed]
        let lines = order.flatMap { from in
            order.compactMap { to in
                edges.first { $0.edge == Edge(from: from, to: to) }.map { found in
                    "    \(from.rawValue) --> \(to.rawValue): \(inputs.map(\.name).filter(found.names.contains).unique.joined(separator: ", "))"
                }
            }
        }
        return
            (["```mermaid", "stateDiagram-v2", "    [*] --> codeRequired: signUp.start"] + lines + [
                "    completed --> [*]: signIn.withContinuation", "```",
            ]).joined(separator: "\n")
    }

    @Test("the diagram matches the transition table")
    func isTheTable() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let guide = try String(contentsOf: root.appending(path: "schemas/guides/sign-up-and-sign-in.md"), encoding: .utf8)
        let begin = try #require(guide.range(of: "```mermaid\nstateDiagram-v2\n"))
        let end = try #require(guide.range(of: "\n```\n", range: begin.upperBound..<guide.endIndex))
        let diagram = Self.diagram()
        #expect(
            guide[begin.lowerBound..<end.upperBound] == diagram + "\n", "The guide needs this diagram instead:\n\n\(diagram)\n")
    }
}

extension [String] {
    /// The distinct elements in the order of their first occurrence.
    fileprivate var unique: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
