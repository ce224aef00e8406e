/// A dictionary with a maximum size that evicts the oldest entry.
struct BoundedCache<Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [String: (value: Value, number: Int)] = [:]
    /// The names in the order of insertion. An entry whose number differs from that in `values` is outdated and ignored.
    private var order: [(name: String, number: Int)] = []
    /// The index of the oldest entry in `order`.
    private var first = 0
    private var nextNumber = 0

    init(atMost limit: Int) { self.limit = limit }

    var count: Int { values.count }
    var all: [(name: String, value: Value)] { values.map { ($0.key, $0.value.value) } }

    /// Setting a new value for an existing name keeps its position.
    subscript(name: String) -> Value? {
        get { values[name]?.value }
        set {
            guard let newValue else {
                values[name] = nil
                return
            }
            if let known = values[name] {
                values[name] = (newValue, known.number)
                return
            }
            values[name] = (newValue, nextNumber)
            order.append((name, nextNumber))
            nextNumber += 1
            var excess = values.count - limit
            forget { _ in
                excess -= 1
                return excess >= 0
            }
            if order.count > 2 * limit {
                order.removeAll { values[$0.name]?.number != $0.number }
                first = 0
            }
        }
    }

    /// - Returns: The removed value, or `nil` if the name is unknown.
    mutating func removeValue(forKey name: String) -> Value? { values.removeValue(forKey: name)?.value }

    /// Removes the oldest entries while `isOver` returns `true` for them.
    mutating func forget(while isOver: (Value) -> Bool) {
        while first < order.count {
            let (name, number) = order[first]
            if let known = values[name], known.number == number {
                guard isOver(known.value) else { return }
                values[name] = nil
            }
            first += 1
        }
    }
}
