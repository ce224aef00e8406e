import Glibc
import JSON
import Platform

/// Shows values of results.
enum Display {
    /// A column of a table: its title, and the content of the cell of a row.
    typealias Column = (title: String, cell: (JSONValue) -> HTML)

    /// The pages of objects, by the member that names them.
    private static let pages = [
        "accountId": "accounts", "tenantId": "tenants", "poolId": "pools", "identityId": "identities", "mergedInto": "accounts",
    ]

    /// Returns a value in a table or a list of facts.
    static func value(_ value: JSONValue?, as name: String) -> HTML {
        switch value {
        case nil, .null?: return "<span class=\"soft\">–</span>"
        case .bool(let bool)?: return bool ? "yes" : "<span class=\"soft\">no</span>"
        case .number(let number)?: return isTime(name) ? time(number.int64 ?? 0) : "<span class=\"number\">\(number.text)</span>"
        case .string(let text)?: return string(text, as: name)
        case .array(let elements)?:
            if elements.isEmpty { return "<span class=\"soft\">none</span>" }
            if elements.allSatisfy({ $0.object != nil }) { return objects(elements) }
            let chips = elements.map { "<span>\(self.value($0, as: String(name.dropLast())))</span>" as HTML }
            return "<span class=\"chips\">\(chips.joined())</span>"
        case .object(let object)?: return object.isEmpty ? "<span class=\"soft\">none</span>" : facts(.object(object))
        }
    }

    /// Returns objects as a table if their members are short, otherwise as lists of facts.
    private static func objects(_ elements: [JSONValue]) -> HTML {
        var names: [String] = []
        var isFlat = true
        for (name, value) in elements.flatMap({ $0.object?.members ?? [] }) {
            if !names.contains(name) { names.append(name) }
            isFlat = isFlat && value.object == nil && value.array == nil
        }
        guard isFlat, elements.count > 1, names.count <= 7 else { return elements.map { facts($0) }.joined() }
        return table(elements, empty: .none, names.map { column(title($0), $0) })
    }

    private static func string(_ text: String, as name: String) -> HTML {
        if name == "method", text.contains("."), text != "audit.checkpoint" {
            return "<a class=\"method\" href=\"/methods/\(text)\"><code>\(text)</code></a>"
        }
        if let page = pages[name] { return link(page, text) }
        if text == "***" { return "<span class=\"soft\" title=\"Secret. Start the console with --show-secrets to see it.\">***</span>" }
        if name == "state" { return badge(text, ["active": "good", "revoked": "bad", "next": "info", "DISABLED": "bad"][text] ?? "") }
        let isCode =
            name.hasSuffix("Id") || ["kid", "issuer", "roleArn", "hash", "head", "chain", "trace", "masterKeyFingerprint"].contains(name)
        if text.contains("\n") { return "<pre>\(text)</pre>" }
        return isCode ? "<code>\(text)</code>" : HTML(text)
    }

    static func link(_ page: String, _ id: String) -> HTML { "<a href=\"\(PageRequest.url([page, id]))\"><code>\(id)</code></a>" }

    static func badge(_ text: String, _ kind: String = "") -> HTML { "<span class=\"badge \(kind)\">\(text)</span>" }

    /// Returns the members of an object as a list of names and values.
    static func facts(_ value: JSONValue, without hidden: Set<String> = []) -> HTML {
        let rows = (value.object?.members ?? []).filter { !hidden.contains($0.name) }.map { name, value -> HTML in
            let isWide = (value.object.map { !$0.isEmpty } ?? false) || (value.array?.contains { $0.object != nil } ?? false)
            return "<div\(isWide ? " class=\"wide\"" : HTML.none)><dt>\(title(name))</dt><dd>\(self.value(value, as: name))</dd></div>"
        }
        return "<dl class=\"facts\">\(rows.joined())</dl>"
    }

    /// Returns objects as a table, or a sentence if there are none.
    ///
    /// - Parameters:
    ///   - columns: The titles and contents of the cells. The first column is the heading of its row.
    ///   - empty: The sentence in place of an empty table.
    static func table(
        _ rows: [JSONValue], empty: HTML, _ columns: [Column], id: String = ""
    ) -> HTML {
        if rows.isEmpty { return "<div class=\"empty\"><p>\(empty)</p></div>" }
        let heads = columns.map { "<th scope=\"col\">\($0.title)</th>" as HTML }.joined()
        let body = rows.map { row -> HTML in
            "<tr>\(columns.map { "<td data-head=\"\($0.title)\"><div>\($0.cell(row))</div></td>" as HTML }.joined())</tr>"
        }.joined("\n")
        let mark: HTML = id.isEmpty ? .none : " id=\"\(id)\""
        return "<div class=\"table\" tabindex=\"0\"><table><thead><tr>\(heads)</tr></thead><tbody\(mark)>\(body)</tbody></table></div>"
    }

    /// Returns a column that shows a member.
    static func column(_ title: String, _ name: String) -> Column {
        (title, { value($0[name], as: name) })
    }

    /// Returns JSON with indentation.
    static func json(_ value: JSONValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { "\(inner)\(JSONValue.string($0.name).text): \(json($0.value, indent: inner))" }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            return "[\n" + elements.map { inner + json($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        default: return value.text
        }
    }

    /// Returns the words of a member name, such as "Created at" for `createdAt`.
    static func title(_ name: String) -> String {
        guard name.allSatisfy({ $0.isLetter || $0.isNumber }), name.first?.isLowercase == true else { return name }
        var words = ""
        for character in name {
            if character.isUppercase, words.last?.isUppercase == false { words += " " }
            words.append(character)
        }
        let text = words.split(separator: " ").map { ["Id": "ID", "Url": "URL"][$0] ?? $0.lowercased() }.joined(separator: " ")
        return (text.first?.uppercased() ?? "") + text.dropFirst()
    }

    // MARK: Times

    private static func isTime(_ name: String) -> Bool { name.hasSuffix("At") || name == "at" || name == "publishedUntil" }

    /// Returns a time. The script adds the local time.
    static func time(_ seconds: Int64) -> HTML {
        if seconds == 0 { return "<span class=\"soft\">–</span>" }
        let text = date(seconds)
        return "<time datetime=\"\(String(text.map { $0 == " " ? "T" : $0 }))Z\">\(text)</time>"
    }

    /// Returns a time in UTC, such as `2026-11-22 19:40:01`.
    static func date(_ seconds: Int64, time: Bool = true) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let day = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return time ? "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))" : day
    }

    /// Returns a duration, such as `850 µs` or `1.2 ms`.
    static func duration(microseconds: Double) -> String {
        func rounded(_ value: Double) -> String {
            value >= 100
                ? String(Int(value.rounded())) : String(Int((value * 10).rounded()) / 10) + "." + String(Int((value * 10).rounded()) % 10)
        }
        if microseconds < 1000 { return "\(Int(microseconds.rounded())) µs" }
        return microseconds < 1_000_000 ? rounded(microseconds / 1000) + " ms" : rounded(microseconds / 1_000_000) + " s"
    }

    static func bytes(_ count: Int64) -> String {
        count < 1 << 20 ? "\(count / 1024) KiB" : count < 1 << 30 ? "\(count >> 20) MiB" : "\(count >> 30) GiB"
    }

    /// Returns a number with separated thousands.
    static func count(_ number: Int64) -> String {
        var text = String(number.magnitude)
        var parts: [String] = []
        while text.count > 3 {
            parts.insert(String(text.suffix(3)), at: 0)
            text.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([text] + parts).joined(separator: ",")
    }
}
