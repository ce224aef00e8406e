/// The header before a message: lines that end with `\r\n`, the last of them empty.
struct FrameHeader: Equatable {
    /// How many bytes follow it.
    var length: Int
    /// Whether these are UTF-8, as they are if the header does not say.
    var isUTF8 = true
    /// How many bytes the header itself has.
    var size: Int

    enum Reading: Equatable {
        case complete(FrameHeader)
        /// Its end has not come yet.
        case unfinished
        case broken(FrameFlaw)
    }

    /// Reads the header at the beginning of `bytes`.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        if let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .broken(.looksLikeJSON) }
        var length: Int?
        var isUTF8 = true
        var place = 0
        while let newline = bytes[place...].prefix(FrameReader.maximumHeader).firstIndex(of: 0x0A) {
            guard newline > place, bytes[newline - 1] == 0x0D else { return .broken(.bareNewline) }
            let line = bytes[place..<newline - 1]
            place = newline + 1
            if place > FrameReader.maximumHeader { return .broken(.headerTooLong) }
            if line.isEmpty {
                guard let length else { return .broken(.noLength) }
                return .complete(FrameHeader(length: length, isUTF8: isUTF8, size: place))
            }
            guard let (name, value) = field(line) else { return .broken(.notAField) }
            switch name {
            case "content-length":
                if length != nil { return .broken(.twoLengths) }
                switch number(value) {
                case nil: return .broken(.badLength)
                case let count? where count > FrameReader.maximumLength: return .broken(.hugeLength)
                case let count?: length = count
                }
            case "content-type": isUTF8 = namesUTF8(value)
            default: break
            }
        }
        return bytes.count > FrameReader.maximumHeader ? .broken(.headerTooLong) : .unfinished
    }

    /// The name in lower case and the value without white space around it.
    private static func field(_ line: Slice<UnsafeRawBufferPointer>) -> (name: String, value: String)? {
        guard line.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x09 }), let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        guard !name.isEmpty, !name.contains(where: { $0 == 0x20 || $0 == 0x09 }) else { return nil }
        let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        let text = String(decoding: value, as: UTF8.self)
        let end = text.lastIndex { $0 != " " && $0 != "\t" }
        return (String(decoding: name, as: UTF8.self).lowercased(), end.map { String(text[...$0]) } ?? "")
    }

    /// A number of decimal digits; what is too large to count is larger than any limit.
    private static func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text) ?? .max
    }

    /// Whether a content type says UTF-8, or nothing of it. `utf8` is what the first version of the protocol asked for.
    private static func namesUTF8(_ value: String) -> Bool {
        for parameter in value.lowercased().split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
            if parts.first == "charset" { return parts.count == 2 && ["utf-8", "utf8"].contains(parts[1]) }
        }
        return true
    }
}
