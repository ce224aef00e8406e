import Platform

/// Draws a diagram as SVG. The style sheet of the site has its colors, so that it is readable in light and dark.
struct DiagramPicture {
    private let diagram: Diagram
    private let layout: DiagramLayout
    private static let margin = 24.0

    /// Returns the picture of a diagram in the language of Mermaid, or `nil` if its kind is not supported.
    static func svg(_ text: String) -> String? {
        guard let diagram = Diagram(text) else { return nil }
        return DiagramPicture(diagram: diagram, layout: DiagramLayout(diagram)).svg
    }

    private var svg: String {
        let frames = layout.frames
        // Frames reach beyond the nodes.
        let low = min(0, frames.map(\.across.lowerBound).min() ?? 0)
        let high = max(layout.size.across, frames.map(\.across.upperBound).max() ?? 0)
        let box = (along: layout.size.along + 2 * Self.margin, across: high - low + 2 * Self.margin)
        let (width, height) = diagram.isHorizontal ? (box.along, box.across) : (box.across, box.along)
        let origin = point(-Self.margin, low - Self.margin)
        var parts = frames.map(frame)
        parts += layout.paths.map(path) + layout.loops.map(loop)
        parts += layout.cells.filter { $0.node != nil }.map(node)
        let view = "\(number(origin.x)) \(number(origin.y)) \(number(width)) \(number(height))"
        return """
            <svg class="diagram" role="img" viewBox="\(view)" width="\(number(width))" height="\(number(height))" \
            xmlns="http://www.w3.org/2000/svg"><title>\(Markup.escaped(diagram.sentences))</title>
            \(parts.joined(separator: "\n"))
            </svg>
            """
    }

    private func point(_ along: Double, _ across: Double) -> (x: Double, y: Double) {
        diagram.isHorizontal ? (along, across) : (across, along)
    }

    private func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }

    private func pair(_ along: Double, _ across: Double) -> String {
        let point = point(along, across)
        return "\(number(point.x)) \(number(point.y))"
    }

    // MARK: Parts

    private func node(_ cell: DiagramLayout.Cell) -> String {
        let center = point(cell.place.along, cell.place.across)
        let half = diagram.isHorizontal ? (x: cell.along / 2, y: cell.across / 2) : (x: cell.across / 2, y: cell.along / 2)
        let (left, top) = (center.x - half.x, center.y - half.y)
        let (right, bottom) = (center.x + half.x, center.y + half.y)
        let shape: String
        switch diagram.nodes[cell.node!].shape {
        case .rectangle, .rounded:
            let radius = diagram.nodes[cell.node!].shape == .rounded ? 14 : 5
            shape = """
                <rect x="\(number(left))" y="\(number(top))" width="\(number(2 * half.x))" height="\(number(2 * half.y))" \
                rx="\(radius)"/>
                """
        case .diamond:
            let corners = [(center.x, top), (right, center.y), (center.x, bottom), (left, center.y)]
            shape = "<polygon points=\"\(corners.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " "))\"/>"
        case .cylinder:
            let arc = "a\(number(half.x)) 8 0 0"
            shape = """
                <path d="M\(number(left)) \(number(top + 8))\(arc) 1 \(number(2 * half.x)) 0V\(number(bottom - 8))\
                \(arc) 1 \(number(-2 * half.x)) 0Z"/>\
                <path class="rim" d="M\(number(left)) \(number(top + 8))\(arc) 0 \(number(2 * half.x)) 0"/>
                """
        case .start: shape = circle(center, 8, "dot")
        case .end: shape = circle(center, 9, "ring") + circle(center, 5, "dot")
        }
        let down = diagram.nodes[cell.node!].shape == .cylinder ? 5.0 : 0
        return "<g class=\"node\">\(shape)\(text(cell.lines, center.x, center.y + down))</g>"
    }

    private func circle(_ center: (x: Double, y: Double), _ radius: Int, _ name: String) -> String {
        "<circle class=\"\(name)\" cx=\"\(number(center.x))\" cy=\"\(number(center.y))\" r=\"\(radius)\"/>"
    }

    private func frame(_ frame: (title: String, along: ClosedRange<Double>, across: ClosedRange<Double>)) -> String {
        let corner = point(frame.along.lowerBound, frame.across.lowerBound)
        let end = point(frame.along.upperBound, frame.across.upperBound)
        return """
            <g class="group"><rect x="\(number(corner.x))" y="\(number(corner.y))" width="\(number(end.x - corner.x))" \
            height="\(number(end.y - corner.y))" rx="8"/><text x="\(number(corner.x + 12))" y="\(number(corner.y + 20))">\
            \(Markup.escaped(frame.title))</text></g>
            """
    }

    private func text(_ lines: [String], _ x: Double, _ y: Double) -> String {
        let top = y - Double(lines.count - 1) * DiagramText.lineHeight / 2 + 5
        return lines.enumerated().map { index, line in
            "<text x=\"\(number(x))\" y=\"\(number(top + Double(index) * DiagramText.lineHeight))\">\(Markup.escaped(line))</text>"
        }.joined()
    }

    /// Draws an edge as a curve through its places, with an arrowhead.
    private func path(_ path: DiagramLayout.Path) -> String {
        let (first, last) = (layout.cells[path.cells.first!], layout.cells[path.cells.last!])
        var middle = path.cells.dropFirst().dropLast().map { layout.cells[$0] }
        // An edge to the next rank needs no place between.
        if middle.count == 1, path.label == nil { middle = [] }
        // The straight piece through a label is as long as the label.
        let between = middle.flatMap { cell in
            cell.along > 0
                ? [(cell.place.along - cell.along / 2, cell.place.across), (cell.place.along + cell.along / 2, cell.place.across)]
                : [cell.place]
        }
        let head = 7.0
        let start = (first.place.along + first.along / 2 + (path.isBack ? head : 0), first.place.across)
        let end = (last.place.along - last.along / 2 - (path.isBack ? 0 : head), last.place.across)
        var line = "M\(pair(start.0, start.1))"
        var before = start
        for next in between + [end] {
            let half = (before.0 + next.0) / 2
            line += "C\(pair(half, before.1)) \(pair(half, next.1)) \(pair(next.0, next.1))"
            before = next
        }
        let tip = path.isBack ? (start.0 - head, start.1) : (end.0 + head, end.1)
        let base = path.isBack ? tip.0 + 10 : tip.0 - 10
        let arrow = "M\(pair(tip.0, tip.1))L\(pair(base, tip.1 - 5))L\(pair(base, tip.1 + 5))Z"
        let text = path.label.map { number -> String in
            let center = point(layout.cells[number].place.along, layout.cells[number].place.across)
            return label(layout.cells[number].lines, center.x, center.y)
        }
        let style = path.edge.isDotted ? " dotted" : ""
        return "<g class=\"edge\"><path class=\"line\(style)\" d=\"\(line)\"/><path class=\"head\" d=\"\(arrow)\"/>\(text ?? "")</g>"
    }

    /// Draws an edge from a node to itself, at the side of the node.
    private func loop(_ loop: (node: Int, lines: [String])) -> String {
        let cell = layout.cells[loop.node]
        let side = cell.place.across + cell.across / 2
        let (low, high) = (cell.place.along - 9, cell.place.along + 9)
        let line = "M\(pair(low, side))C\(pair(low - 10, side + 32)) \(pair(high + 10, side + 32)) \(pair(high, side + 7))"
        let arrow = "M\(pair(high, side))L\(pair(high - 5, side + 10))L\(pair(high + 5, side + 10))Z"
        let (width, height) = DiagramText.size(loop.lines)
        let center = point(cell.place.along, side + 30 + (diagram.isHorizontal ? height : width) / 2)
        return """
            <g class="edge"><path class="line" d="\(line)"/><path class="head" d="\(arrow)"/>\(label(loop.lines, center.x, center.y))</g>
            """
    }

    /// A label hides the line behind it.
    private func label(_ lines: [String], _ x: Double, _ y: Double) -> String {
        let (width, height) = DiagramText.size(lines)
        return """
            <rect class="back" x="\(number(x - width / 2 - 3))" y="\(number(y - height / 2 - 1))" width="\(number(width + 6))" \
            height="\(number(height + 2))"/>\(text(lines, x, y))
            """
    }
}
