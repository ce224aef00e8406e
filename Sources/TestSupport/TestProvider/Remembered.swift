/// Values by name, of which so many are kept at most: for one more, the one that was kept first gives way.
struct Remembered<Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [String: (value: Value, number: Int)] = [:]
    /// Names as they were kept, the first one first. Those whose number is another by now count for nothing.
    private var order: [(name: String, number: Int)] = []
    /// Where in `order` the first one is.
    private var first = 0
    private var nextNumber = 0

    init(atMost limit: Int) { self.limit = limit }

    var count: Int { values.count }
    var all: [(name: String, value: Value)] { values.map { ($0.key, $0.value.value) } }

    /// Whoever is given a new value stays in its place.
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

    /// - Returns: what it was, nil if it was not kept.
    mutating func removeValue(forKey name: String) -> Value? { values.removeValue(forKey: name)?.value }

    /// Forgets those that were kept first, up to one that is not over.
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
