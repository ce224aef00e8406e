import Contract
import Platform

/// The graph of an account as text: lines for a terminal, or the language of a drawing program.
public struct GraphText {
    private let nodes: [GraphNode]
    private let edges: [GraphEdge]

    public init(nodes: [GraphNode], edges: [GraphEdge]) { (self.nodes, self.edges) = (nodes, edges) }

    public func text(_ format: AccountGraph.Params.Format) -> String {
        switch format {
        case .tree: tree
        case .mermaid: mermaid
        case .dot: dot
        case .svg: GraphPicture(labels: nodes.map(Self.label), nodes: nodes, edges: edges).svg
        }
    }

    /// The kind of the node and what it is known by.
    static func label(_ node: GraphNode) -> String {
        switch node {
        case .account(let account): "account \(account.accountId)"
        case .provider(let provider): "\(provider.providerId) \(provider.subject)"
        case .factor(let factor): "factor \(factor.factorKind.rawValue) \(factor.factorId)"
        case .passkey(let passkey): "passkey \(passkey.name)"
        case .session(let session): "session \(session.sessionId)"
        case .mergedAccount(let account): "merged account \(account.accountId)"
        case .agent(let account): "agent \(account.accountId)"
        case .owner(let account): "owner \(account.accountId)"
        case .identity(let identity): "identity \(identity.identityId) in pool \(identity.poolId)"
        case .login(let login): "login \(login.loginProvider)"
        }
    }

    // MARK: Tree

    /// Each node once, below the node with which its first edge connects it. Its other edges follow in brackets.
    private var tree: String {
        var parents: [Int: GraphEdge] = [:]
        var others: [Int: [GraphEdge]] = [:]
        for edge in edges {
            // Every edge connects a node with one that was added before.
            let later = Int(max(edge.from, edge.to))
            if parents[later] == nil { parents[later] = edge } else { others[later, default: []].append(edge) }
        }
        var lines: [String] = []
        func add(_ place: Int, _ start: String, _ indent: String) {
            let more = (others[place] ?? []).map { edge in
                let other = Int(edge.from) == place ? edge.to : edge.from
                return " (\(Self.arrow(edge, from: Int(other))) \(line(Int(other))))"
            }
            lines.append(start + line(place) + more.joined())
            let children = nodes.indices.filter { child in
                parents[child].map { Int(min($0.from, $0.to)) == place } ?? false
            }
            for child in children {
                let isLast = child == children.last
                let arrow = Self.arrow(parents[child]!, from: child)
                add(child, "\(indent)\(isLast ? "└─" : "├─") \(arrow) ", indent + (isLast ? "   " : "│  "))
            }
        }
        add(0, "", "")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The kind of an edge with its direction, as seen from the other node.
    private static func arrow(_ edge: GraphEdge, from place: Int) -> String {
        Int(edge.from) == place ? "\(edge.kind.rawValue) ←" : "\(edge.kind.rawValue) →"
    }

    private func line(_ place: Int) -> String {
        Self.escaped(Self.label(nodes[place])) { scalar in scalar.value < 0x20 || scalar.value == 0x7F ? Self.unicode(scalar) : nil }
    }

    // MARK: Drawing programs

    /// A flowchart of Mermaid. In its labels, characters are written with their numbers.
    private var mermaid: String {
        let lines = nodes.indices.map { "    n\($0)[\"\(Self.forMermaid(Self.label(nodes[$0])))\"]" }
        return (["flowchart LR"] + lines + edges.map { "    n\($0.from) -- \($0.kind.rawValue) --> n\($0.to)" }).joined(separator: "\n")
            + "\n"
    }

    private static func forMermaid(_ label: String) -> String {
        escaped(label) { scalar in
            switch scalar {
            case "\"", "<", ">", "&", "#", "\\", "`", ";": "#\(scalar.value);"
            default: scalar.value < 0x20 || scalar.value == 0x7F ? "#\(scalar.value);" : nil
            }
        }
    }

    /// A digraph of Graphviz.
    private var dot: String {
        let lines = nodes.indices.map { "    n\($0) [label=\"\(Self.forDot(Self.label(nodes[$0])))\"];" }
        let arrows = edges.map { "    n\($0.from) -> n\($0.to) [label=\"\($0.kind.rawValue)\"];" }
        return (["digraph account {", "    rankdir=LR;", "    node [shape=box];"] + lines + arrows + ["}"]).joined(separator: "\n") + "\n"
    }

    private static func forDot(_ label: String) -> String {
        escaped(label) { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "<": "&lt;"
            case ">": "&gt;"
            case "&": "&amp;"
            default: scalar.value < 0x20 || scalar.value == 0x7F ? "\\\(unicode(scalar))" : nil
            }
        }
    }

    private static func unicode(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Replaces the characters for which `replacement` is not `nil`.
    private static func escaped(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let text = replacement(scalar) { escaped.append(contentsOf: text.unicodeScalars) } else { escaped.append(scalar) }
        }
        return String(escaped)
    }
}
