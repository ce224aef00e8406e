import MintmarkClient

/// The parameters of a step on their way into the arguments of a function.
struct Given {
    /// They do not fit.
    struct DoesNotFit: Error {}

    private var members: MemberReader
    private let count: Int
    private var taken = 0

    init(_ params: JSONObject) {
        members = MemberReader(params)
        count = params.count
    }

    /// Whether every member went into an argument.
    var isUsedUp: Bool { taken == count }

    mutating func required<V: WireValue>(_ name: String) throws -> V {
        guard let value: V = try optional(name) else { throw DoesNotFit() }
        return value
    }

    mutating func optional<V: WireValue>(_ name: String) throws -> V? {
        guard let given = members.rest[name] else { return nil }
        // It has to come out as it went in.
        guard let value: V = try? members.optional(name), value.wire == given else { throw DoesNotFit() }
        taken += 1
        return value
    }
}
