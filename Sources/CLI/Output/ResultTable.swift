import Glibc
import JSON

/// Writes lists of objects as tables.
struct ResultTable {
    let schema: MethodSchema?
    let isForTerminal: Bool
    let isWide: Bool
    private static let maximumColumns = 8
    private static let gap = "  "

    /// Returns the lines of a table with a row for each element.
    func lines(_ elements: [JSONValue], listName: String) -> [String] {
        let list = schema.map { $0.resolved($0.result["properties"]?[listName] ?? [:]) }
        let item = list?["items"].flatMap { schema?.resolved($0) } ?? [:]
        let names = columns(elements, item)
        let rows = elements.map { element in names.map { cell(element[$0], item["properties"]?[$0]) } }
        return aligned([names] + rows)
    }

    /// Returns a line for each member of an object.
    func members(of value: JSONValue) -> [String] {
        guard let object = value.object else { return [cell(value, schema?.result)] }
        let type = schema.map { $0.resolved($0.result, for: value) }
        let rows = object.members.map { [$0.name, cell($0.value, type?["properties"]?[$0.name])] }
        return aligned(rows, hasHeader: false)
    }

    /// The columns in the schema of the method come first. Without them, required members with simple values do, and members that no
    /// element has are left out.
    private func columns(_ elements: [JSONValue], _ item: JSONValue) -> [String] {
        var names: [String] = []
        for element in elements { for name in element.object?.names ?? [] where !names.contains(name) { names.append(name) } }
        let declared = item["properties"]?.object?.names ?? []
        names.sort { (declared.firstIndex(of: $0) ?? .max) < (declared.firstIndex(of: $1) ?? .max) }
        if let columns = schema?.columns, !columns.isEmpty { return isWide ? columns + names.filter { !columns.contains($0) } : columns }
        let simple = names.filter { name in
            elements.allSatisfy { element in
                switch element[name] {
                case .object?, .array?: false
                default: true
                }
            }
        }
        let required = (item["required"]?.array ?? []).compactMap(\.string)
        let ordered = simple.filter(required.contains) + simple.filter { !required.contains($0) }
        let all = ordered.isEmpty ? names : ordered
        return isWide ? all + names.filter { !all.contains($0) } : Array(all.prefix(Self.maximumColumns))
    }

    private func cell(_ value: JSONValue?, _ type: JSONValue?) -> String {
        guard let value, !value.isNull else { return "-" }
        if let type, schema?.isSecret(type) ?? false { return "***" }
        switch value {
        case .bool(let bool): return bool ? "yes" : "no"
        case .string(let text): return TextWidth.escaped(text)
        case .number(let number):
            guard type?["$ref"]?.string?.hasSuffix("/Timestamp") ?? false, let seconds = number.int64 else { return number.text }
            return TimeText.of(seconds, isLocal: isForTerminal)
        default: return TextWidth.escaped(masked(value, type).text)
        }
    }

    /// Hides secrets in nested values.
    private func masked(_ value: JSONValue, _ type: JSONValue?) -> JSONValue {
        guard let schema, let type else { return value }
        if schema.isSecret(type) { return "***" }
        let here = schema.resolved(type, for: value)
        switch value {
        case .object(let object):
            var masked = JSONObject()
            for member in object.members {
                masked[member.name] = self.masked(member.value, here["properties"]?[member.name] ?? here["additionalProperties"])
            }
            return .object(masked)
        case .array(let elements): return .array(elements.map { masked($0, here["items"]) })
        default: return value
        }
    }

    private func aligned(_ rows: [[String]], hasHeader: Bool = true) -> [String] {
        guard let first = rows.first else { return [] }
        var widths = first.indices.map { column in rows.map { TextWidth.columns(of: $0[column]) }.max() ?? 0 }
        if !isWide, let available = TextWidth.available() {
            let room = available - Self.gap.count * (widths.count - 1)
            while widths.reduce(0, +) > room, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 4 {
                widths[widest] -= 1
            }
        }
        return rows.enumerated().map { number, row in
            let cells = row.enumerated().map { column, text -> String in
                let cut = isWide ? text : TextWidth.cut(text, to: widths[column])
                let padded = column == row.count - 1 ? cut : TextWidth.padded(cut, to: widths[column])
                return hasHeader && number == 0 || !hasHeader && column == 0 ? Printing.bold(padded) : padded
            }
            return cells.joined(separator: Self.gap)
        }
    }
}

/// Writes times.
enum TimeText {
    /// Returns `YYYY-MM-DD HH:MM:SS` in the time zone of the machine, or the time in UTC as in RFC 3339.
    static func of(_ seconds: Int64, isLocal: Bool) -> String {
        var time = time_t(seconds)
        var parts = tm()
        if isLocal { localtime_r(&time, &parts) } else { gmtime_r(&time, &parts) }
        func padded(_ number: Int32, _ digits: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let day = [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1), padded(parts.tm_mday)].joined(separator: "-")
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0) }.joined(separator: ":")
        return isLocal ? "\(day) \(clock)" : "\(day)T\(clock)Z"
    }
}
