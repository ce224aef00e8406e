import JSON

/// Draws the graph of an account: what proves the account on the left, the account in the middle, and what it leads to on the right.
struct GraphPicture {
    private struct Node {
        let kind: String
        let title: String
        let label: String
        let link: String?
        let column: Int
        var x = 0
        var y = 0
    }

    private static let width = 196
    private static let height = 52
    private static let gap = 18
    private static let columnGap = 88

    private var nodes: [Node]
    private let edges: [(from: Int, to: Int, kind: String)]
    private var size = (width: 0, height: 0)

    init(_ graph: JSONValue) {
        let all = graph["nodes"]?.array ?? []
        let accountId = all.first?["accountId"]?.string ?? ""
        nodes = all.map { Self.node($0, accountId) }
        edges = (graph["edges"]?.array ?? []).map { (Int($0["from"]?.int ?? 0), Int($0["to"]?.int ?? 0), $0["kind"]?.string ?? "") }
        place()
    }

    private static func node(_ node: JSONValue, _ accountId: String) -> Node {
        func text(_ name: String) -> String { node[name]?.string ?? "" }
        let account = PageRequest.url(["accounts", accountId])
        return switch text("kind") {
        case "account": Node(kind: "account", title: "Account", label: text("accountId"), link: account, column: 1)
        case "mergedAccount":
            Node(
                kind: "mergedAccount", title: "Merged account", label: text("accountId"),
                link: PageRequest.url(["accounts", text("accountId")]),
                column: 0)
        case "agent", "owner":
            Node(
                kind: "account", title: text("kind") == "agent" ? "Agent" : "Owner", label: text("accountId"),
                link: PageRequest.url(["accounts", text("accountId")]), column: text("kind") == "agent" ? 2 : 0)
        case "provider":
            Node(kind: "provider", title: text("providerId"), label: text("subject"), link: account, column: 0)
        case "passkey":
            Node(kind: "provider", title: "Passkey", label: text("name"), link: account + "#passkeys", column: 0)
        case "factor":
            Node(
                kind: "factor", title: "Second factor: \(text("factorKind"))", label: text("factorId"), link: account + "#factors",
                column: 0)
        case "session":
            Node(kind: "session", title: "Session", label: text("sessionId"), link: account + "#session-" + text("sessionId"), column: 2)
        case "identity":
            Node(
                kind: "identity", title: "Identity in \(text("poolId"))", label: text("identityId"),
                link: PageRequest.url(["identities", text("identityId")]), column: 2)
        default: Node(kind: "login", title: "Login", label: text("loginProvider"), link: nil, column: 3)
        }
    }

    private mutating func place() {
        let counts = (0..<4).map { column in nodes.count { $0.column == column } }
        let rows = max(2, counts.max() ?? 1)
        size.height = rows * (Self.height + Self.gap) - Self.gap + 16
        var used = [Int](repeating: 0, count: 4)
        for index in nodes.indices {
            let column = nodes[index].column
            let own = counts[column] * (Self.height + Self.gap) - Self.gap
            nodes[index].x = 8 + column * (Self.width + Self.columnGap)
            nodes[index].y = (size.height - own) / 2 + used[column] * (Self.height + Self.gap)
            used[column] += 1
        }
        size.width = (nodes.map(\.x).max() ?? 0) + Self.width + 8
    }

    /// The picture as SVG.
    var picture: HTML {
        """
        <div class="picture" tabindex="0"><svg data-graph role="group" aria-label="Account graph" \
        viewBox="0 0 \(size.width) \(size.height)" width="\(size.width)" height="\(size.height)"><title>\(summary)</title>\
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" \
        refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>\
        \(edges.indices.map { edge($0) }.joined())\(nodes.indices.map { box($0) }.joined())</svg></div>
        """
    }

    private var summary: String {
        let parts = nodes.count - 1 == 1 ? "1 part" : "\(nodes.count - 1) parts"
        return "The account with its \(parts) and \(edges.count == 1 ? "1 relation" : "\(edges.count) relations")"
    }

    private func edge(_ index: Int) -> HTML {
        let edge = edges[index]
        guard nodes.indices.contains(edge.from), nodes.indices.contains(edge.to) else { return .none }
        let (a, b) = (nodes[edge.from], nodes[edge.to])
        let goesRight = a.column < b.column
        let (x1, x2) = goesRight ? (a.x + Self.width, b.x) : (a.x, b.x + Self.width)
        let (y1, y2) = (a.y + Self.height / 2, b.y + Self.height / 2)
        var middle = (x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 6)
        var path = "M\(x1) \(y1)C\((x1 + x2) / 2) \(y1) \((x1 + x2) / 2) \(y2) \(x2) \(y2)"
        if edge.kind == "began" {
            // The account is between both columns, so the edge passes above or below it.
            let account = nodes[0]
            let isAbove = y1 + y2 <= account.y * 2 + Self.height
            middle = (account.x + Self.width / 2, isAbove ? account.y - 18 : account.y + Self.height + 26)
            let y = isAbove ? account.y - 14 : account.y + Self.height + 14
            path = "M\(x1) \(y1)C\(x1 + 48) \(y1) \(account.x - 32) \(y) \(account.x + Self.width / 2) \(y)S\(x2 - 48) \(y2) \(x2) \(y2)"
        }
        let label = Self.words[edge.kind] ?? edge.kind
        // One label for each kind and column is enough: the edges run side by side.
        let isFirst = !edges[..<index].contains { $0.kind == edge.kind && nodes[$0.from].column == a.column }
        let text: HTML =
            isFirst
            ? "<text class=\"relation\" x=\"\(middle.x)\" y=\"\(middle.y)\" text-anchor=\"middle\">\(label)</text>" : .none
        return """
            <g data-edge="\(edge.from)-\(edge.to)" class="edge \(edge.kind)"><title>\(a.title) \(label) \(b.title)</title>\
            <path d="\(path)" marker-end="url(#arrow)"/>\(text)</g>
            """
    }

    private static let words = [
        "leadsTo": "leads to", "secures": "secures", "isSignedInTo": "signed in to", "began": "began", "mergedInto": "merged into",
    ]

    private func box(_ index: Int) -> HTML {
        let node = nodes[index]
        let shape: HTML = """
            <rect width="\(Self.width)" height="\(Self.height)" rx="9"/><text class="kind" x="12" y="21">\(Self.cut(node.title, 25))</text>\
            <text class="label" x="12" y="39">\(Self.cut(node.label, 24))</text>
            """
        let content: HTML = node.link.map { "<a href=\"\($0)\">\(shape)</a>" } ?? shape
        return """
            <g data-node="\(index)" class="node \(node.kind)" transform="translate(\(node.x) \(node.y))">\
            <title>\(node.title): \(node.label)</title>\(content)</g>
            """
    }

    static func cut(_ text: String, _ count: Int) -> String { text.count <= count ? text : text.prefix(count - 1) + "…" }
}
