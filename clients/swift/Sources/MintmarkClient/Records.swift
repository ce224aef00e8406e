import JSON

/// An object with known members, which also keeps unknown members.
public protocol Record: WireValue, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The members that this client does not know.
    var unknown: JSONObject { get }
    init(reading members: inout MemberReader) throws
}

extension Record {
    public init(wire: JSONValue) throws {
        guard let object = wire.object else { throw UnexpectedValue(description: "not an object") }
        var members = MemberReader(object)
        try self.init(reading: &members)
    }

    public var debugDescription: String { description }
    public var shown: String { description }
    /// Hides secrets from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An object that Mintmark returns. It keeps the complete JSON.
public protocol ResultRecord: Record {
    /// The complete JSON.
    var json: JSONObject { get }
}

extension ResultRecord {
    public var wire: JSONValue { .object(json) }

    public var unknown: JSONObject {
        var members = MemberReader(json)
        _ = try? Self(reading: &members)
        return members.rest
    }

    /// The members without secrets. Unknown members show only their names, because their values can be secrets.
    public var description: String {
        var members = MemberReader(json, isShown: true)
        _ = try? Self(reading: &members)
        let all = members.shown + members.rest.members.map { "\($0.name): [unknown]" }
        return "\(Self.self)(\(all.joined(separator: ", ")))"
    }
}

/// An object that programs create as part of parameters.
public protocol MutableRecord: Record {
    var unknown: JSONObject { get set }
    func write(to members: inout MemberWriter)
}

extension MutableRecord {
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
}

/// An object whose state determines its members: an enumeration whose payloads are records.
public protocol Variants: WireValue, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The record of the variant, or the JSON of a variant that this client does not know.
    var payload: any WireValue { get }
}

extension Variants {
    public var wire: JSONValue { payload.wire }
    /// The members without secrets. A variant that this client does not know shows only the names of its members.
    public var description: String {
        guard let json = payload as? JSONObject else { return payload.shown }
        return "\(Self.self)(\(json.members.map { "\($0.name): [unknown]" }.joined(separator: ", ")))"
    }
    public var debugDescription: String { description }
    public var shown: String { description }
    /// Hides secrets from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Reads the members of an object one at a time.
public struct MemberReader {
    /// All members.
    let object: JSONObject
    /// The members that were not read.
    public private(set) var rest: JSONObject
    private let isShown: Bool
    /// The members that were read, for display.
    private(set) var shown: [String] = []

    public init(_ object: JSONObject) { self.init(object, isShown: false) }

    init(_ object: JSONObject, isShown: Bool) { (self.object, rest, self.isShown) = (object, object, isShown) }

    /// - Throws: `UnexpectedValue` if the member is absent or has another type.
    public mutating func required<V: WireValue>(_ name: String, isSecret: Bool = false) throws -> V {
        guard let value: V = try optional(name, isSecret: isSecret) else {
            throw UnexpectedValue(description: "the member \(name) is missing")
        }
        return value
    }

    /// Returns nil if the member is absent.
    public mutating func optional<V: WireValue>(_ name: String, isSecret: Bool = false) throws -> V? {
        guard let json = rest[name] else { return nil }
        rest[name] = nil
        do {
            let value = try V(wire: json)
            if isShown { shown.append("\(name): \(isSecret ? "[secret]" : value.shown)") }
            return value
        } catch let error as UnexpectedValue {
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
