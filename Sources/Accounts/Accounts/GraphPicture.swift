import Contract
import Platform

/// The graph of an account as a picture: boxes in columns, from the sign-in methods on the left to the identities on the right.
struct GraphPicture {
    let labels: [String]
    let nodes: [GraphNode]
    let edges: [GraphEdge]

    private static let (width, height, columnGap, rowGap, margin) = (250, 36, 110, 14, 16)
    private static let mostCharacters = 34

    /// The column of a node, by its kind.
    private static func column(_ node: GraphNode) -> Int {
        switch node {
        case .provider, .passkey: 0
        case .session, .factor, .mergedAccount, .owner: 1
        case .account: 2
        case .identity, .agent: 3
        case .login: 4
        }
    }

    /// The top left corner of each node.
    private var places: [(x: Int, y: Int)] {
        let columns: [Int] = nodes.map(Self.column)
        let used = Set(columns).sorted()
        let most = used.map { column in columns.count { $0 == column } }.max() ?? 1
        var next: [Int: Int] = [:]
        for column in used { next[column] = (most - columns.count { $0 == column }) * (Self.height + Self.rowGap) / 2 }
        return columns.map { column in
            let place = (
                x: Self.margin + (used.firstIndex(of: column) ?? 0) * (Self.width + Self.columnGap), y: Self.margin + (next[column] ?? 0)
            )
            next[column, default: 0] += Self.height + Self.rowGap
            return place
        }
    }

    var svg: String {
        let places = places
        let size = (
            width: (places.map(\.x).max() ?? 0) + Self.width + Self.margin, height: (places.map(\.y).max() ?? 0) + Self.height + Self.margin
        )
        let lines = edges.map { line($0, places) }
        let boxes = places.indices.map { box($0, places[$0]) }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" data-graph="" role="img" viewBox="0 0 \(size.width) \(size.height)" \
            font-family="sans-serif" font-size="12">
            <title>\(Markup.escaped(Self.clean(labels.first ?? "")))</title>
            <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
            <path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>
            \((lines + boxes).joined(separator: "\n"))
            </svg>

            """
    }

    private func box(_ index: Int, _ place: (x: Int, y: Int)) -> String {
        let label = Self.clean(labels[index])
        let shown = label.count > Self.mostCharacters ? label.prefix(Self.mostCharacters - 1) + "…" : label[...]
        return """
            <g data-node="\(index)"><title>\(Markup.escaped(label))</title>\
            <rect x="\(place.x)" y="\(place.y)" width="\(Self.width)" height="\(Self.height)" rx="6" \
            fill="\(index == 0 ? "#dbeafe" : "#f4f4f5")" stroke="#777"/>\
            <text x="\(place.x + 10)" y="\(place.y + 22)" fill="#111">\(Markup.escaped(String(shown)))</text></g>
            """
    }

    private func line(_ edge: GraphEdge, _ places: [(x: Int, y: Int)]) -> String {
        let (from, to) = (places[Int(edge.from)], places[Int(edge.to)])
        let isForward = from.x <= to.x
        let start = (x: isForward ? from.x + Self.width : from.x, y: from.y + Self.height / 2)
        let end = (x: isForward ? to.x : to.x + Self.width, y: to.y + Self.height / 2)
        let bend = (isForward ? 1 : -1) * Self.columnGap / 2
        return """
            <g data-edge="\(edge.from)-\(edge.to)"><title>\(edge.kind.rawValue)</title>\
            <path d="M\(start.x) \(start.y)C\(start.x + bend) \(start.y) \(end.x - bend) \(end.y) \(end.x) \(end.y)" fill="none" \
            stroke="#777" marker-end="url(#arrow)"/>\
            <text x="\((start.x + end.x) / 2)" y="\((start.y + end.y) / 2 - 3)" text-anchor="middle" font-size="10" fill="#555">\
            \(edge.kind.rawValue)</text></g>
            """
    }

    /// Returns a label without characters that XML does not allow.
    private static func clean(_ label: String) -> String {
        String(String.UnicodeScalarView(label.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 }))
    }
}
