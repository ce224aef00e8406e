import JSON
import Platform

/// An object with arbitrary member names, in the order of the text. Names are unique and compared byte by byte.
public struct Members<Value: Sendable>: Sendable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    @frozen
    public struct Member: Sendable {
        public let name: String
        public let value: Value

        @inlinable
        public init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }

    @usableFromInline
    var all: [Member] = []

    public init() {}

    /// - Precondition: The names are unique.
    public init(_ members: some Sequence<(String, Value)>) { all = members.map { Member(name: $0, value: $1) } }

    public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }

    @inlinable
    public var startIndex: Int { all.startIndex }
    @inlinable
    public var endIndex: Int { all.endIndex }
    @inlinable
    public subscript(_ position: Int) -> Member { all[position] }
    public var names: [String] { all.map(\.name) }

    /// The value of `name`.
    @inlinable
    public subscript(_ name: String) -> Value? {
        for member in all where member.name.hasBytes(of: name) { return member.value }
        return nil
    }

    mutating func append(_ name: String, _ value: Value) { all.append(Member(name: name, value: value)) }
}

// Conditional, so that the type itself has no requirement: the first use of each type with one searches all conformances of the program.
extension Members: Equatable where Value: Equatable {}
extension Members.Member: Equatable where Value: Equatable {}
