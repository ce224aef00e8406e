/// The prepared statements of a connection, by the addresses of their texts. A hash table whose hash is the address: a dictionary hashes for
/// keys that others choose, which takes longer than finding the statement.
struct StatementTable {
    private var slots: [(text: UnsafePointer<UInt8>, statement: SQLiteStatement)?]
    private var count = 0

    /// - Parameter size: The number of slots at the beginning, a power of two.
    init(size: Int = 64) { slots = Array(repeating: nil, count: size) }

    subscript(text: UnsafePointer<UInt8>) -> SQLiteStatement? { slots[place(of: text)]?.statement }

    /// Adds a statement whose text is not in the table.
    mutating func add(_ statement: SQLiteStatement, at text: UnsafePointer<UInt8>) {
        if count * 2 >= slots.count {
            var larger = StatementTable(size: slots.count * 2)
            for case .some(let slot) in slots { larger.add(slot.statement, at: slot.text) }
            self = larger
        }
        slots[place(of: text)] = (text, statement)
        count += 1
    }

    mutating func removeAll() { self = StatementTable() }

    /// Returns the slot of a text, or the empty slot for it.
    private func place(of text: UnsafePointer<UInt8>) -> Int {
        // The high bits of the product depend on all bits of the address.
        let product = UInt64(UInt(bitPattern: text)) &* 0x9E37_79B9_7F4A_7C15
        var place = Int(truncatingIfNeeded: product >> 40) & (slots.count - 1)
        while let slot = slots[place], slot.text != text { place = (place + 1) & (slots.count - 1) }
        return place
    }
}
