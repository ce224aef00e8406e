/// Values by addresses, of objects or of static texts. A hash table whose hash is the address: a dictionary hashes for keys that others
/// choose, which takes longer, and its first use searches all conformances of the program for those of its key.
@frozen
public struct AddressTable<Value> {
    /// Never full, so that every search ends.
    @usableFromInline
    var slots: [(address: UInt, value: Value)?]
    public private(set) var count = 0

    /// - Parameter size: The number of slots at the beginning, a power of two.
    public init(size: Int = 64) { slots = Array(repeating: nil, count: size) }

    @inlinable
    public subscript(address: UInt) -> Value? { slots[place(of: address)]?.value }

    @inlinable
    public var values: [Value] {
        var found: [Value] = []
        for case .some(let slot) in slots { found.append(slot.value) }
        return found
    }

    /// Adds the value of an address, or replaces it.
    public mutating func add(_ value: Value, at address: UInt) {
        if count * 2 >= slots.count {
            var larger = AddressTable(size: slots.count * 2)
            for case .some(let slot) in slots { larger.add(slot.value, at: slot.address) }
            self = larger
        }
        let place = place(of: address)
        if slots[place] == nil { count += 1 }
        slots[place] = (address, value)
    }

    /// Removes the value of an address, if there is one.
    public mutating func remove(_ address: UInt) {
        var empty = place(of: address)
        guard slots[empty] != nil else { return }
        slots[empty] = nil
        count -= 1
        // A later slot whose search begins at or before the empty one must move into it, or it would no longer be found.
        var next = following(empty)
        while let slot = slots[next] {
            let distance = (next - start(of: slot.address)) & (slots.count - 1)
            if distance >= (next - empty) & (slots.count - 1) {
                slots[empty] = slot
                slots[next] = nil
                empty = next
            }
            next = following(next)
        }
    }

    /// Returns the slot of an address, or the empty slot for it.
    @inlinable
    func place(of address: UInt) -> Int {
        var place = start(of: address)
        while let slot = slots[place], slot.address != address { place = following(place) }
        return place
    }

    /// Returns the slot at which the search for an address begins. The high bits of the product depend on all bits of the address.
    @inlinable
    func start(of address: UInt) -> Int { Int(truncatingIfNeeded: (UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> 40) & (slots.count - 1) }

    @inlinable
    func following(_ place: Int) -> Int { (place + 1) & (slots.count - 1) }
}

extension AddressTable where Value: AnyObject {
    /// Adds an object, unless the table contains it.
    public mutating func add(_ object: Value) { add(object, at: Self.address(object)) }

    /// Removes an object, if the table contains it.
    public mutating func remove(_ object: Value) { remove(Self.address(object)) }

    private static func address(_ object: Value) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) }
}
