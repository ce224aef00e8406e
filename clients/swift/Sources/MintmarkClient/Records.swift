import JSON

/// An object with known members, which also keeps unknown members.
public protocol Record: WireValue, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The members that this client does not know.
    var unknown: JSONObject { get set }
    init(reading members: inout MemberReader) throws
    func write(to members: inout MemberWriter)
}

extension Record {
    public init(wire: JSONValue) throws {
        guard let object = wire.object else { throw UnexpectedValue(description: "not an object") }
        var members = MemberReader(object)
        try self.init(reading: &members)
    }

    public var wire: JSONValue {
        var members = MemberWriter()
        write(to: &members)
        return .object(members.object)
    }

    /// The members without secrets. Unknown members show only their names, because their values can be secrets.
    public var description: String {
        var members = MemberWriter(isShown: true)
        write(to: &members)
        return "\(Self.self)(\(members.shown.joined(separator: ", ")))"
    }
    public var debugDescription: String { description }
    public var shown: String { description }
    /// Hides secrets from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Reads the members of an object one at a time.
public struct MemberReader {
    /// The members that were not read.
    public private(set) var rest: JSONObject

    public init(_ object: JSONObject) { rest = object }

    /// - Throws: `UnexpectedValue` if the member is absent or has another type.
    public mutating func required<V: WireValue>(_ name: String) throws -> V {
        guard let value: V = try optional(name) else { throw UnexpectedValue(description: "the member \(name) is missing") }
        return value
    }

    /// Returns nil if the member is absent.
    public mutating func optional<V: WireValue>(_ name: String) throws -> V? {
        guard let value = rest[name] else { return nil }
        rest[name] = nil
        do { return try V(wire: value) } catch let error as UnexpectedValue {
            throw UnexpectedValue(description: "\(name): \(error.description)")
        }
    }
}

/// Writes the members of an object, as JSON or as text for display.
public struct MemberWriter {
    private let isShown: Bool
    private(set) var object = JSONObject()
    private(set) var shown: [String] = []

    init(isShown: Bool = false) { self.isShown = isShown }

    /// Adds a member unless its value is nil.
    public mutating func set<V: WireValue>(_ name: String, _ value: V?) {
        guard let value else { return }
        if isShown { shown.append("\(name): \(value.shown)") } else { object[name] = value.wire }
    }

    /// Adds a member that must not be displayed, unless its value is nil.
    public mutating func secret<V: WireValue>(_ name: String, _ value: V?) {
        guard let value else { return }
        if isShown { shown.append("\(name): [secret]") } else { object[name] = value.wire }
    }

    /// Adds members that this client does not know.
    public mutating func add(_ unknown: JSONObject) {
        for (name, value) in unknown.members {
            if isShown { shown.append("\(name): [unknown]") } else { object[name] = value }
        }
    }
}
