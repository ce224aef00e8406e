/// Finds the members of an object by name, and knows whether there are others. Fastest if the names are looked up in the order of the text.
public struct MemberLookup: Sendable {
    public let object: JSONNode
    /// The index of the name that follows the member found last.
    private var following: Int
    private var found = 0

    /// - Parameter object: The object. Another value has no members.
    public init(_ object: JSONNode) {
        self.object = object
        following = object.index + 1
    }

    /// Whether the object has members that were not found, if no name was looked up twice.
    public var hasOthers: Bool { object.kind == .object && found < object.count }

    /// Returns the value of the member `name`, or `nil` if it does not exist.
    public mutating func value(of name: StaticString) -> JSONNode? {
        guard object.kind == .object else { return nil }
        if let value = value(of: name, in: following..<object.next) ?? value(of: name, in: object.index + 1..<following) {
            following = value.next
            found += 1
            return value
        }
        return nil
    }

    /// Searches the members whose names are in a range of the tape.
    private func value(of name: StaticString, in range: Range<Int>) -> JSONNode? {
        var at = range.lowerBound
        while at < range.upperBound {
            if JSONNode(tape: object.tape, index: at).isString(name) { return JSONNode(tape: object.tape, index: at + 1) }
            at = JSONNode(tape: object.tape, index: at + 1).next
        }
        return nil
    }
}
