/// A CBOR value (RFC 8949), of the kinds that WebAuthn uses.
///
/// Definite lengths only, no tags, no floating-point numbers, no duplicate keys, at most eight levels. The order of keys and the width of
/// integers are not checked, because older authenticators differ.
indirect enum CBOR: Sendable {
    case integer(Int)
    case bytes(ArraySlice<UInt8>)
    case text(String)
    case array([CBOR])
    case map([Key: CBOR])
    case bool(Bool)
    case null

    enum Key: Hashable, Sendable {
        case integer(Int)
        case text(String)
    }

    static let maximumDepth = 8

    /// Parses the value at the beginning of `bytes` and removes it from them. Returns `nil` if it is not well-formed or not supported.
    static func read(from bytes: inout ArraySlice<UInt8>) -> CBOR? { read(from: &bytes, depth: 1) }

    /// Parses exactly one value. Returns `nil` if something follows it.
    static func read(whole bytes: ArraySlice<UInt8>) -> CBOR? {
        var rest = bytes
        guard let value = read(from: &rest, depth: 1), rest.isEmpty else { return nil }
        return value
    }

    private static func read(from bytes: inout ArraySlice<UInt8>, depth: Int) -> CBOR? {
        guard depth <= maximumDepth, let first = bytes.popFirst() else { return nil }
        if first >> 5 == 7 {
            switch first & 0x1F {
            case 20: return .bool(false)
            case 21: return .bool(true)
            case 22: return .null
            default: return nil
            }
        }
        guard let argument = readArgument(first & 0x1F, from: &bytes) else { return nil }
        switch first >> 5 {
        case 0: return .integer(argument)
        case 1: return .integer(-1 - argument)
        case 2: return readBytes(argument, from: &bytes).map(CBOR.bytes)
        case 3: return readBytes(argument, from: &bytes).flatMap { String(validating: $0, as: UTF8.self) }.map(CBOR.text)
        case 4: return readArray(argument, from: &bytes, depth: depth)
        case 5: return readMap(argument, from: &bytes, depth: depth)
        default: return nil
        }
    }

    /// Reads the number that belongs to the first byte. Indefinite lengths, and numbers that do not fit into 63 bits, are not supported.
    private static func readArgument(_ short: UInt8, from bytes: inout ArraySlice<UInt8>) -> Int? {
        if short < 24 { return Int(short) }
        guard short <= 27, let encoded = readBytes(1 << Int(short - 24), from: &bytes) else { return nil }
        return Int(exactly: encoded.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    private static func readBytes(_ count: Int, from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private static func readArray(_ count: Int, from bytes: inout ArraySlice<UInt8>, depth: Int) -> CBOR? {
        guard count <= bytes.count else { return nil }
        var elements: [CBOR] = []
        for _ in 0..<count {
            guard let element = read(from: &bytes, depth: depth + 1) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    private static func readMap(_ count: Int, from bytes: inout ArraySlice<UInt8>, depth: Int) -> CBOR? {
        guard count <= bytes.count / 2 else { return nil }
        var members: [Key: CBOR] = [:]
        for _ in 0..<count {
            let key: Key
            switch read(from: &bytes, depth: depth + 1) {
            case .integer(let number): key = .integer(number)
            case .text(let text): key = .text(text)
            default: return nil
            }
            guard let value = read(from: &bytes, depth: depth + 1), members.updateValue(value, forKey: key) == nil else { return nil }
        }
        return .map(members)
    }
}

extension CBOR {
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { Array(bytes) } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    var array: [CBOR]? { if case .array(let elements) = self { elements } else { nil } }
    var map: [Key: CBOR]? { if case .map(let members) = self { members } else { nil } }
}

extension [CBOR.Key: CBOR] {
    subscript(_ name: String) -> CBOR? { self[.text(name)] }
    subscript(_ number: Int) -> CBOR? { self[.integer(number)] }
}
