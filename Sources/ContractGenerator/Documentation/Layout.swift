/// An expression in source code that is written on one line if it fits, otherwise with one item per line.
indirect enum Layout {
    case leaf(String)
    /// Items between brackets. `trailing` follows the last item if each has its own line.
    case group(open: String, items: [Layout], close: String, separator: String, trailing: String)
    /// A label before an expression.
    case labeled(String, Layout)

    static func list(_ open: String, _ items: [Layout], _ close: String, trailing: String = ",") -> Layout {
        .group(open: open, items: items, close: close, separator: ",", trailing: trailing)
    }

    /// Returns the source code.
    ///
    /// - Parameters:
    ///   - width: The maximum length of a line with a group that could be broken.
    ///   - depth: The number of indentation steps of the first line.
    func text(width: Int = 84, indent: String = "    ", depth: Int = 0, column: Int = 0) -> String {
        let flat = flat
        if flat.count + column + depth * indent.count <= width { return flat }
        switch self {
        case .leaf(let text): return text
        case .labeled(let label, let value):
            return label + value.text(width: width, indent: indent, depth: depth, column: column + label.count)
        case .group(let open, let items, let close, let separator, let trailing):
            if items.isEmpty { return flat }
            let margin = String(repeating: indent, count: depth)
            let lines = items.enumerated().map { number, item in
                margin + indent + item.text(width: width, indent: indent, depth: depth + 1)
                    + (number + 1 < items.count ? separator : trailing)
            }
            let opened = open.last == " " ? String(open.dropLast()) : open
            return opened + "\n" + lines.joined(separator: "\n")
                + (close.isEmpty ? "" : "\n" + margin + (close.first == " " ? String(close.dropFirst()) : close))
        }
    }

    private var flat: String {
        switch self {
        case .leaf(let text): return text
        case .labeled(let label, let value): return label + value.flat
        case .group(let open, let items, let close, let separator, _):
            if items.isEmpty {
                return (open.last == " " ? String(open.dropLast()) : open) + (close.first == " " ? String(close.dropFirst()) : close)
            }
            return open + items.map(\.flat).joined(separator: separator == "," ? ", " : separator == " \\" ? " " : separator) + close
        }
    }
}
