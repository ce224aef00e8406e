import Platform

#if canImport(Glibc)
    import Glibc
#endif

/// One value in a `JSONText`. Reading it does not copy its children. The node retains the text.
public struct JSONNode: Sendable {
    let tape: Tape
    let index: Int

    public enum Kind: Sendable { case null, bool, number, string, array, object }

    private var node: Tape.Node { tape[index] }

    /// The index after this node and all its descendants.
    var next: Int { Int(node.next) }

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

    /// The Boolean value, or `nil` if this is not a Boolean.
    public var bool: Bool? {
        switch node.shape {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The string without escapes, or `nil` if this is not a string.
    public var string: String? {
        let node = node
        switch node.shape {
        case .plainString: return written { String(decoding: $0, as: UTF8.self) }
        case .escapedString: return written { String(decoding: Unescaping.bytes($0), as: UTF8.self) }
        default: return nil
        }
    }

    /// The number as written, or `nil` if this is not a number.
    public var number: JSONNumber? {
        node.shape == .number ? JSONNumber(verified: written { String(decoding: $0, as: UTF8.self) }) : nil
    }

    /// Whether this is a string that contains the character NUL. JSON has it as an escape only.
    public var containsNul: Bool { node.shape == .escapedString && string!.utf8.contains(0) }

    /// Returns whether this is the string `text`, byte for byte. Faster than comparing `string`.
    public func isString(_ text: StaticString) -> Bool {
        isString(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private func isString(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let node = node
        switch node.shape {
        case .plainString: return written { $0.count == text.count && memcmp($0.baseAddress!, text.baseAddress!, $0.count) == 0 }
        case .escapedString: return string.map { $0.utf8.elementsEqual(text) } ?? false
        default: return false
        }
    }

    /// The number of members or elements, or 0 for a scalar.
    public var count: Int { Int(node.count) }

    // MARK: Members and elements

    /// The value of the member `name`, or `nil` if the member does not exist or this is not an object.
    public subscript(_ name: StaticString) -> JSONNode? {
        find { $0.isString(name) }
    }

    /// The value of the member `name`, or `nil` if the member does not exist or this is not an object.
    public subscript(_ name: String) -> JSONNode? {
        find { $0.string!.hasBytes(of: name) }
    }

    /// The number of members of this object that are in a list of names.
    ///
    /// - Parameter names: The names, separated by single spaces.
    public func count(ofMembers names: StaticString) -> Int {
        names.withUTF8Buffer { names in
            names.split(separator: UInt8(ascii: " ")).reduce(0) { count, name in
                find { $0.isString(UnsafeBufferPointer(rebasing: name)) } == nil ? count : count + 1
            }
        }
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

    /// Calls `body` with the name, as a string node, and the value of each member in the order of the text. Does nothing if this is not an
    /// object.
    public func forEachPair<E: Error>(_ body: (_ name: JSONNode, _ value: JSONNode) throws(E) -> Void) throws(E) {
        guard node.shape == .object else { return }
        let end = Int(node.next)
        var at = index + 1
        while at < end {
            try body(JSONNode(tape: tape, index: at), JSONNode(tape: tape, index: at + 1))
            at = Int(tape[at + 1].next)
        }
    }

    /// Calls `body` with the name and value of each member in the order of the text. Does nothing if this is not an object.
    public func forEachMember<E: Error>(_ body: (_ name: String, _ value: JSONNode) throws(E) -> Void) throws(E) {
        try forEachPair { (name, value) throws(E) in try body(name.string!, value) }
    }

    /// Calls `body` with the position and value of each element. Does nothing if this is not an array.
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

    // MARK: Source text

    /// The source text of the value.
    public var rawText: String { raw { String(decoding: $0, as: UTF8.self) } }

    /// Appends the source text of the value.
    public func appendRaw(to output: inout [UInt8]) { raw { output.append(contentsOf: $0) } }

    /// The position of the value in the text, in bytes.
    public var offset: Int { Int(node.start) - (kind == .string ? 1 : 0) }

    /// The position after the value in the text, in bytes.
    public var endOffset: Int { Int(node.end) + (kind == .string ? 1 : 0) }

    /// Calls `body` with the bytes of the source text. A string includes its quotes.
    public func raw<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        let node = node
        let quotes = kind == .string ? 1 : 0
        return try tape.withBytes(Int(node.start) - quotes..<Int(node.end) + quotes, body)
    }

    private func written<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        let node = node
        return tape.withBytes(Int(node.start)..<Int(node.end), body)
    }

    /// A deep copy of the value.
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
