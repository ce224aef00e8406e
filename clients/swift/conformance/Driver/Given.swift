import MintmarkClient

/// The parameters of a step during their conversion to the arguments of a function.
struct Given {
    /// The parameters do not fit the function.
    struct DoesNotFit: Error {}

    private var members: MemberReader
    private let count: Int
    private var taken = 0

    init(_ params: JSONObject) {
        members = MemberReader(params)
        count = params.count
    }

    /// Whether every member was converted to an argument.
    var isUsedUp: Bool { taken == count }

    mutating func required<V: WireValue>(_ name: String) throws -> V {
        guard let value: V = try optional(name) else { throw DoesNotFit() }
        return value
    }

    mutating func optional<V: WireValue>(_ name: String) throws -> V? {
        guard let given = members.rest[name] else { return nil }
        // The value must survive a round trip.
        guard let value: V = try? members.optional(name), value.wire == given else { throw DoesNotFit() }
        taken += 1
        return value
    }
}
