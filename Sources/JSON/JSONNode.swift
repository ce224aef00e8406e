import Platform

#if canImport(Glibc)
    import Glibc
#endif

/// A place in a `JSONText`: one value, read without copying what stands beneath it. It keeps the text alive.
public struct JSONNode: Sendable {
    let tape: Tape
    let index: Int

    public enum Kind: Sendable { case null, bool, number, string, array, object }

    private var node: Tape.Node { tape[index] }

    public var kind: Kind {
        switch node.shape {
        case .null: .null
        case .false, .true: .bool
        case .number: .number
        case .plainString, .escapedString: .string
        case .array: .array
        case .object: .object
        }
    }

    public var isNull: Bool { node.shape == .null }

    /// The truth value, nil if this is no boolean.
    public var bool: Bool? {
        switch node.shape {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The characters, nil if this is no string.
    public var string: String? {
        let node = node
        switch node.shape {
        case .plainString: return written { String(decoding: $0, as: UTF8.self) }
        case .escapedString: return written { String(decoding: Unescaping.bytes($0), as: UTF8.self) }
        default: return nil
        }
    }

    /// The number as it was written, nil if this is no number.
    public var number: JSONNumber? {
        node.shape == .number ? JSONNumber(verified: written { String(decoding: $0, as: UTF8.self) }) : nil
    }

    /// Whether this is the string `text`, byte for byte. Cheaper than comparing `string`.
    public func isString(_ text: StaticString) -> Bool {
        let node = node
        switch node.shape {
        case .plainString:
            return written { $0.count == text.utf8CodeUnitCount && memcmp($0.baseAddress!, text.utf8Start, $0.count) == 0 }
        case .escapedString: return string.map { $0.utf8.elementsEqual(text.description.utf8) } ?? false
        default: return false
        }
    }

    /// Members or elements; 0 for a scalar.
    public var count: Int { Int(node.count) }

    // MARK: Members and elements

    /// The value of the member `name`, nil if there is none or this is no object.
    public subscript(_ name: StaticString) -> JSONNode? {
        find { $0.isString(name) }
    }

    /// The value of the member `name`, nil if there is none or this is no object.
    public subscript(_ name: String) -> JSONNode? {
        find { $0.string!.hasBytes(of: name) }
    }

    private func find(_ matches: (JSONNode) -> Bool) -> JSONNode? {
        guard node.shape == .object else { return nil }
        let end = Int(node.next)
        var at = index + 1
        while at < end {
            if matches(JSONNode(tape: tape, index: at)) { return JSONNode(tape: tape, index: at + 1) }
            at = Int(tape[at + 1].next)
        }
        return nil
    }

    /// Hands over each member's name, as the node of a string, and value, in the order of the text; nothing if this is no object.
    public func forEachPair<E: Error>(_ body: (_ name: JSONNode, _ value: JSONNode) throws(E) -> Void) throws(E) {
        guard node.shape == .object else { return }
        let end = Int(node.next)
        var at = index + 1
        while at < end {
            try body(JSONNode(tape: tape, index: at), JSONNode(tape: tape, index: at + 1))
            at = Int(tape[at + 1].next)
        }
    }

    /// Hands over each member's name and value in the order of the text; nothing if this is no object.
    public func forEachMember<E: Error>(_ body: (_ name: String, _ value: JSONNode) throws(E) -> Void) throws(E) {
        try forEachPair { (name, value) throws(E) in try body(name.string!, value) }
    }

    /// Hands over each element with its position; nothing if this is no array.
    public func forEachElement<E: Error>(_ body: (_ position: Int, _ element: JSONNode) throws(E) -> Void) throws(E) {
        guard node.shape == .array else { return }
        let end = Int(node.next)
        var at = index + 1
        var position = 0
        while at < end {
            try body(position, JSONNode(tape: tape, index: at))
            at = Int(tape[at].next)
            position += 1
        }
    }

    // MARK: The text itself

    /// The value exactly as it was written.
    public var rawText: String { raw { String(decoding: $0, as: UTF8.self) } }

    /// Appends the value exactly as it was written.
    public func appendRaw(to output: inout [UInt8]) { raw { output.append(contentsOf: $0) } }

    /// Where the value begins in the text, in bytes.
    public var offset: Int { Int(node.start) - (kind == .string ? 1 : 0) }

    /// Lends the bytes of the value as it was written, a string with its quotes.
    public func raw<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        let node = node
        let quotes = kind == .string ? 1 : 0
        return try tape.withBytes(Int(node.start) - quotes..<Int(node.end) + quotes, body)
    }

    private func written<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        let node = node
        return tape.withBytes(Int(node.start)..<Int(node.end), body)
    }

    /// A copy of the value and all beneath it.
    public var value: JSONValue {
        switch node.shape {
        case .null: return .null
        case .false: return .bool(false)
        case .true: return .bool(true)
        case .number: return .number(number!)
        case .plainString, .escapedString: return .string(string!)
        case .array:
            var elements: [JSONValue] = []
            elements.reserveCapacity(count)
            forEachElement { elements.append($1.value) }
            return .array(elements)
        case .object:
            var object = JSONObject()
            forEachMember { object.append(name: $0, value: $1.value) }
            return .object(object)
        }
    }
}
