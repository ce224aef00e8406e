/// Places the nodes of a diagram in ranks, so that most arrows lead in one direction (the method of Sugiyama, Tagawa and Toda, 1981).
///
/// `along` is the direction of the arrows, and `across` the other one.
struct DiagramLayout {
    /// A node, or a place in a rank through which an edge leads.
    struct Cell {
        /// The node, or `nil` for a place of an edge.
        let node: Int?
        let lines: [String]
        var along: Double
        var across: Double
        /// Additional room after the cell, for an edge that leads back to its own node.
        var room = 0.0
        var rank = 0
        /// The center.
        var place = (along: 0.0, across: 0.0)
    }

    /// The cells of an edge from its start to its end.
    struct Path {
        let edge: Diagram.Edge
        let cells: [Int]
        /// The place of the label, or `nil`.
        let label: Int?
        /// Whether the edge leads against the direction of the others.
        let isBack: Bool
    }

    private(set) var cells: [Cell] = []
    private(set) var paths: [Path] = []
    /// Edges from a node to itself, with the lines of their labels.
    private(set) var loops: [(node: Int, lines: [String])] = []
    private(set) var size = (along: 0.0, across: 0.0)
    private var ranks: [[Int]] = []
    private let diagram: Diagram

    private static let gap = (along: 22.0, across: 18.0)

    init(_ diagram: Diagram) {
        self.diagram = diagram
        addNodes()
        addEdges()
        for (number, cell) in cells.enumerated() {
            while ranks.count <= cell.rank { ranks.append([]) }
            ranks[cell.rank].append(number)
        }
        order()
        place()
    }

    // MARK: Ranks

    private mutating func addNodes() {
        for (number, node) in diagram.nodes.enumerated() {
            let lines = DiagramText.lines(node.label)
            var (width, height) = DiagramText.size(lines)
            switch node.shape {
            case .start, .end: (width, height) = (18, 18)
            case .diamond: (width, height) = (width * 1.3 + 34, height * 1.3 + 34)
            case .cylinder: (width, height) = (width + 28, height + 32)
            case .rectangle, .rounded: (width, height) = (width + 28, height + 20)
            }
            cells.append(
                Cell(
                    node: number, lines: lines, along: diagram.isHorizontal ? width : height,
                    across: diagram.isHorizontal ? height : width))
        }
    }

    /// Gives each node the longest distance from a start as its rank. Each edge spans two ranks or more: between them is its label.
    private mutating func addEdges() {
        let back = backEdges
        let forward = diagram.edges.enumerated().compactMap { number, edge -> (from: Int, to: Int)? in
            if edge.from == edge.to { return nil }
            return back.contains(number) ? (edge.to, edge.from) : (edge.from, edge.to)
        }
        var isChanged = true
        while isChanged {
            isChanged = false
            for edge in forward where cells[edge.to].rank < cells[edge.from].rank + 2 {
                cells[edge.to].rank = cells[edge.from].rank + 2
                isChanged = true
            }
        }
        for (number, edge) in diagram.edges.enumerated() {
            let lines = DiagramText.lines(edge.label)
            let (width, height) = DiagramText.size(lines)
            if edge.from == edge.to {
                loops.append((edge.from, lines))
                cells[edge.from].room = (diagram.isHorizontal ? height : width) + 40
                continue
            }
            let isBack = back.contains(number)
            let (first, last) = isBack ? (edge.to, edge.from) : (edge.from, edge.to)
            let middle = (cells[first].rank + cells[last].rank) / 2
            var path = [first]
            var label: Int?
            for rank in cells[first].rank + 1..<cells[last].rank {
                let isLabel = rank == middle && !edge.label.isEmpty
                var cell = Cell(node: nil, lines: isLabel ? lines : [], along: 0, across: 0)
                if isLabel { (cell.along, cell.across) = diagram.isHorizontal ? (width + 12, height + 6) : (height + 6, width + 12) }
                cell.rank = rank
                cells.append(cell)
                if isLabel { label = cells.count - 1 }
                path.append(cells.count - 1)
            }
            paths.append(Path(edge: edge, cells: path + [last], label: label, isBack: isBack))
        }
    }

    /// The edges that close a cycle, by depth-first search.
    private var backEdges: Set<Int> {
        var state = [Int](repeating: 0, count: diagram.nodes.count)
        var back: Set<Int> = []
        func visit(_ node: Int) {
            state[node] = 1
            for (number, edge) in diagram.edges.enumerated() where edge.from == node && edge.to != node {
                if state[edge.to] == 1 { back.insert(number) } else if state[edge.to] == 0 { visit(edge.to) }
            }
            state[node] = 2
        }
        for node in diagram.nodes.indices where state[node] == 0 { visit(node) }
        return back
    }

    // MARK: Order

    /// The neighbors of each cell in the rank before it and after it.
    private var neighbors: (before: [[Int]], after: [[Int]]) {
        var before = [[Int]](repeating: [], count: cells.count)
        var after = before
        for path in paths {
            for (from, to) in zip(path.cells, path.cells.dropFirst()) {
                after[from].append(to)
                before[to].append(from)
            }
        }
        return (before, after)
    }

    private mutating func order() {
        let (before, after) = neighbors
        var position = [Double](repeating: 0, count: cells.count)
        func number(_ rank: [Int]) { for (place, cell) in rank.enumerated() { position[cell] = Double(place) } }
        ranks.forEach(number)
        func mean(_ cell: Int, _ others: [[Int]]) -> Double {
            let all = others[cell]
            return all.isEmpty ? position[cell] : all.reduce(0) { $0 + position[$1] } / Double(all.count)
        }
        for sweep in 0..<12 {
            let isDown = sweep.isMultiple(of: 2)
            for rank in isDown ? Array(ranks.indices) : ranks.indices.reversed() {
                let keys = Dictionary(uniqueKeysWithValues: ranks[rank].map { ($0, mean($0, isDown ? before : after)) })
                ranks[rank] = ranks[rank].enumerated().sorted {
                    (group($0.element), keys[$0.element]!, $0.offset) < (group($1.element), keys[$1.element]!, $1.offset)
                }.map(\.element)
                number(ranks[rank])
            }
        }
    }

    /// The cells of a group come first in their rank.
    private func group(_ cell: Int) -> Int {
        if let node = cells[cell].node { return diagram.nodes[node].group ?? Int.max }
        // The places of an edge within a group belong to it.
        let path = paths.first { $0.cells.contains(cell) }
        let ends = path.map { [$0.edge.from, $0.edge.to].map { diagram.nodes[$0].group } } ?? []
        return ends.count == 2 && ends[0] == ends[1] ? ends[0] ?? Int.max : Int.max
    }

    // MARK: Places

    private mutating func place() {
        var edge = 0.0
        for rank in ranks {
            let length = rank.map { cells[$0].along }.max() ?? 0
            for cell in rank { cells[cell].place.along = edge + length / 2 }
            edge += length + Self.gap.along
        }
        size.along = edge - Self.gap.along
        let (before, after) = neighbors
        for rank in ranks { spread(rank) { _ in 0 } }
        for sweep in 0..<24 {
            let isDown = sweep.isMultiple(of: 2)
            for rank in isDown ? Array(ranks.indices) : ranks.indices.reversed() {
                let places = cells.map(\.place.across)
                spread(ranks[rank]) { cell in
                    let all = isDown && sweep < 22 ? before[cell] : sweep < 22 ? after[cell] : before[cell] + after[cell]
                    return all.isEmpty ? places[cell] : all.reduce(0) { $0 + places[$1] } / Double(all.count)
                }
            }
        }
        moveOutOfGroups()
        let low = cells.map { $0.place.across - $0.across / 2 }.min() ?? 0
        for number in cells.indices { cells[number].place.across -= low }
        size.across = cells.map { $0.place.across + $0.across / 2 + $0.room }.max() ?? 0
    }

    /// Places the cells of a rank next to the wanted places, in their order and without overlap. The mean of the two closest packings that
    /// keep the distances also keeps them.
    private mutating func spread(_ rank: [Int], wanted: (Int) -> Double) {
        var (low, high) = (rank.map(wanted), rank.map(wanted))
        func distance(_ index: Int) -> Double {
            cells[rank[index]].across / 2 + cells[rank[index]].room + Self.gap.across + cells[rank[index + 1]].across / 2
        }
        for index in rank.indices.dropFirst() { low[index] = max(low[index], low[index - 1] + distance(index - 1)) }
        for index in rank.indices.dropLast().reversed() { high[index] = min(high[index], high[index + 1] - distance(index)) }
        for index in rank.indices { cells[rank[index]].place.across = (low[index] + high[index]) / 2 }
    }

    /// The frame of each group, in the order of the groups: the ranks and places of its nodes with a margin.
    var frames: [(title: String, along: ClosedRange<Double>, across: ClosedRange<Double>)] {
        diagram.groups.enumerated().compactMap { number, title in
            let members = cells.filter { cell in cell.node.map { diagram.nodes[$0].group == number } ?? false }
            guard !members.isEmpty else { return nil }
            let along = (members.map { $0.place.along - $0.along / 2 }.min()!, members.map { $0.place.along + $0.along / 2 }.max()!)
            let across = (
                members.map { $0.place.across - $0.across / 2 }.min()!, members.map { $0.place.across + $0.across / 2 + $0.room }.max()!
            )
            return (title, along.0 - 14...along.1 + 14, across.0 - 34...across.1 + 14)
        }
    }

    /// Moves the cells that do not belong to a group out of its frame.
    private mutating func moveOutOfGroups() {
        for (number, frame) in frames.enumerated() {
            for rank in ranks {
                guard let first = rank.first, frame.along.contains(cells[first].place.along) else { continue }
                var edge = frame.across.upperBound + Self.gap.across
                for cell in rank where group(cell) != number {
                    let place = max(cells[cell].place.across, edge + cells[cell].across / 2)
                    cells[cell].place.across = place
                    edge = place + cells[cell].across / 2 + cells[cell].room + Self.gap.across
                }
            }
        }
    }
}

/// Estimates the size of text, because the fonts of the reader are unknown.
enum DiagramText {
    static let lineHeight = 19.0
    private static let longest = 24

    /// Breaks a text into lines of at most 24 characters, between words.
    static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= longest {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    static func size(_ lines: [String]) -> (width: Double, height: Double) {
        (Double(lines.map(\.count).max() ?? 0) * 7.8, Double(lines.count) * lineHeight)
    }
}
