/// The left side of an item: the place of its value in the parameters, and the notation of the value.
struct ParameterPath {
    enum Step: Hashable {
        case key(String)
        case index(Int)
        case append
    }

    enum Notation {
        /// `name=text`
        case text
        /// `name:=json`
        case json
    }

    private(set) var steps: [Step] = []
    private(set) var notation = Notation.text
    /// Whether the value is the path of a file.
    private(set) var isFile = false
    private(set) var value = ""
    /// The item without its value, for messages.
    private(set) var label = ""

    /// Parses an item. Returns `nil` if it has no name or no equals sign after the name.
    ///
    /// A backslash before `[`, `]`, `=`, `:` or `@` makes it an ordinary character. A key in brackets extends to the closing bracket.
    init?(_ item: String) {
        let bytes = Array(item.utf8)
        var place = 0
        var name: [UInt8] = []
        while place < bytes.count, !Self.endsName(bytes, place) { name.append(Self.character(bytes, &place)) }
        guard !name.isEmpty, let first = Self.text(name) else { return nil }
        steps.append(.key(first))
        while place < bytes.count, bytes[place] == UInt8(ascii: "[") {
            place += 1
            let start = place
            var key: [UInt8] = []
            while place < bytes.count, bytes[place] != UInt8(ascii: "]") { key.append(Self.character(bytes, &place)) }
            guard place < bytes.count, let text = Self.text(key) else { return nil }
            let isPlain = bytes[start..<place].elementsEqual(key)
            place += 1
            if key.isEmpty {
                steps.append(.append)
            } else if isPlain, let index = Int(text), String(index) == text, index >= 0 {
                steps.append(.index(index))
            } else {
                steps.append(.key(text))
            }
        }
        label = String(decoding: bytes[..<place], as: UTF8.self)
        let rest = bytes[place...]
        for (sign, notation, isFile) in [("=", Notation.text, false), (":=", .json, false), ("@=", .text, true), (":@=", .json, true)]
        where rest.starts(with: sign.utf8) {
            self.notation = notation
            self.isFile = isFile
            take(String(decoding: rest.dropFirst(sign.utf8.count), as: UTF8.self))
            return
        }
        return nil
    }

    private mutating func take(_ given: String) {
        value = given
        if isFile || !given.hasPrefix("@") { return }
        value.removeFirst()
        // Two signs stand for text that begins with one.
        if !value.hasPrefix("@") { isFile = true }
    }

    /// Replaces indexes by keys where the schema describes an object.
    mutating func adapt(to schema: MethodSchema) {
        for place in steps.indices.dropFirst() {
            guard case .index(let index) = steps[place], let parent = schema.schema(of: Array(steps[..<place])) else { continue }
            if schema.resolved(parent)["type"] == "object" { steps[place] = .key(String(index)) }
        }
    }

    /// The name of the parameter.
    var name: String { if case .key(let name)? = steps.first { name } else { "" } }

    private static func endsName(_ bytes: [UInt8], _ place: Int) -> Bool {
        switch bytes[place] {
        case UInt8(ascii: "["), UInt8(ascii: "="): return true
        case UInt8(ascii: ":"): return bytes[(place + 1)...].starts(with: "=".utf8) || bytes[(place + 1)...].starts(with: "@=".utf8)
        case UInt8(ascii: "@"): return bytes[(place + 1)...].starts(with: "=".utf8)
        default: return false
        }
    }

    private static func character(_ bytes: [UInt8], _ place: inout Int) -> UInt8 {
        defer { place += 1 }
        if bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count, "[]=:@\\".utf8.contains(bytes[place + 1]) { place += 1 }
        return bytes[place]
    }

    private static func text(_ bytes: [UInt8]) -> String? { String(validating: bytes, as: UTF8.self) }
}
