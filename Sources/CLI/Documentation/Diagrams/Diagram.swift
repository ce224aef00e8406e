/// A diagram in the part of the language of Mermaid that the guides use: `flowchart` and `stateDiagram-v2`.
struct Diagram {
    enum Shape {
        case rectangle, rounded, diamond, cylinder
        /// The filled circle before the first state.
        case start
        /// The circle after the last state.
        case end
    }

    struct Node {
        let id: String
        var label: String
        var shape: Shape
        /// The group that contains the node.
        var group: Int?
    }

    struct Edge {
        let from: Int
        let to: Int
        let label: String
        let isDotted: Bool
    }

    private(set) var nodes: [Node] = []
    private(set) var edges: [Edge] = []
    private(set) var groups: [String] = []
    /// Whether the arrows lead to the right; otherwise, down.
    private(set) var isHorizontal = false
    private var openGroup: Int?
    private var isStates = false

    /// Returns `nil` for a kind of diagram, or a line, that this type does not support.
    init?(_ text: String) {
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty && !$0.hasPrefix("%%") }
        guard let first = lines.first else { return nil }
        let words = first.split(separator: " ")
        switch words.first {
        case "flowchart", "graph": isHorizontal = words.dropFirst().first.map { ["LR", "RL"].contains($0) } ?? false
        case "stateDiagram-v2", "stateDiagram": isStates = true
        default: return nil
        }
        for line in lines.dropFirst() { guard isStates ? readState(line) : readFlow(line) else { return nil } }
        if nodes.isEmpty { return nil }
    }

    /// The diagram as sentences, for readers who do not see it.
    var sentences: String {
        edges.map { edge in
            let label = edge.label.isEmpty ? "" : " (\(edge.label))"
            return "\(name(edge.from)) leads to \(name(edge.to))\(label)."
        }.joined(separator: " ")
    }

    private func name(_ node: Int) -> String {
        switch nodes[node].shape {
        case .start: "The start"
        case .end: "the end"
        default: nodes[node].label
        }
    }

    // MARK: States

    /// `a --> b: label`, where `[*]` is the start or the end.
    private mutating func readState(_ line: Substring) -> Bool {
        if line.hasPrefix("direction ") {
            isHorizontal = line.hasSuffix("LR")
            return true
        }
        guard let arrow = line.firstRange(of: "-->") else { return false }
        let rest = line[arrow.upperBound...]
        let colon = rest.firstIndex(of: ":")
        let label = colon.map { Self.trimmed(rest[rest.index(after: $0)...]) } ?? ""
        let (from, to) = (Self.trimmed(line[..<arrow.lowerBound]), Self.trimmed(colon.map { rest[..<$0] } ?? rest))
        let start = from == "[*]" ? node("[*] start", "", .start) : node(from, from, .rounded)
        let end = to == "[*]" ? node("[*] end", "", .end) : node(to, to, .rounded)
        edges.append(Edge(from: start, to: end, label: label, isDotted: false))
        return true
    }

    // MARK: Flowcharts

    private mutating func readFlow(_ line: Substring) -> Bool {
        if line == "end" {
            openGroup = nil
            return true
        }
        if line.hasPrefix("subgraph ") {
            groups.append(Self.trimmed(line.dropFirst("subgraph ".count)).filter { $0 != "\"" })
            openGroup = groups.count - 1
            return true
        }
        var rest = line
        guard var sources = readNodes(&rest) else { return false }
        while !rest.isEmpty {
            guard let arrow = readArrow(&rest), let targets = readNodes(&rest) else { return false }
            for from in sources {
                for to in targets { edges.append(Edge(from: from, to: to, label: arrow.label, isDotted: arrow.isDotted)) }
            }
            sources = targets
        }
        return true
    }

    /// `A[label] & B`
    private mutating func readNodes(_ rest: inout Substring) -> [Int]? {
        var found: [Int] = []
        repeat {
            rest = rest.drop { $0 == " " || $0 == "&" }
            guard let node = readNode(&rest) else { return nil }
            found.append(node)
            rest = rest.drop { $0 == " " }
        } while rest.first == "&"
        return found
    }

    private static let brackets: [(open: String, close: String, shape: Shape)] = [
        ("[(", ")]", .cylinder), ("((", "))", .rounded), ("[", "]", .rectangle), ("(", ")", .rounded), ("{", "}", .diamond),
    ]

    private mutating func readNode(_ rest: inout Substring) -> Int? {
        let id = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard !id.isEmpty else { return nil }
        rest = rest.dropFirst(id.count)
        for bracket in Self.brackets where rest.hasPrefix(bracket.open) {
            let inner = rest.dropFirst(bracket.open.count)
            guard let end = inner.firstRange(of: bracket.close) else { return nil }
            let label = inner[..<end.lowerBound].filter { $0 != "\"" }.replacing("<br>", with: " ")
            rest = inner[end.upperBound...]
            return node(String(id), label, bracket.shape)
        }
        return node(String(id), nil, .rectangle)
    }

    /// `-->`, `-->|label|`, `-- label -->`, `-.->` and `-. label .->`
    private mutating func readArrow(_ rest: inout Substring) -> (label: String, isDotted: Bool)? {
        rest = rest.drop { $0 == " " }
        for (open, close, isDotted) in [("-->", "", false), ("-.->", "", true), ("-.", ".->", true), ("--", "-->", false)]
        where rest.hasPrefix(open) {
            rest = rest.dropFirst(open.count)
            var label = ""
            if !close.isEmpty {
                guard let end = rest.firstRange(of: close) else { return nil }
                label = Self.trimmed(rest[..<end.lowerBound])
                rest = rest[end.upperBound...]
            } else if rest.first == "|", let end = rest.dropFirst().firstIndex(of: "|") {
                label = Self.trimmed(rest[rest.index(after: rest.startIndex)..<end])
                rest = rest[rest.index(after: end)...]
            }
            return (label.filter { $0 != "\"" }, isDotted)
        }
        return nil
    }

    /// Returns a node by its ID, which is created when it is met first. A later label replaces the ID.
    private mutating func node(_ id: String, _ label: String?, _ shape: Shape) -> Int {
        let index =
            nodes.firstIndex { $0.id == id }
            ?? {
                nodes.append(Node(id: id, label: label ?? id, shape: shape, group: nil))
                return nodes.count - 1
            }()
        if let label { (nodes[index].label, nodes[index].shape) = (label, shape) }
        if let openGroup, nodes[index].group == nil { nodes[index].group = openGroup }
        return index
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
