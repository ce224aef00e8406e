import JSON

/// What a thread that runs calls has for itself.
struct Workbench {
    /// Answers are written here; the buffer is used again and again.
    var writer = JSONWriter(reservingCapacity: 4096)
    /// Tells the threads apart; small.
    let number: Int

    private static let keptCapacity = 256 * 1024

    init(number: Int) { self.number = number }

    /// Forgets what was written, and gives memory back after something large.
    mutating func clear() {
        if writer.bytes.capacity > Self.keptCapacity {
            writer = JSONWriter(reservingCapacity: 4096)
        } else {
            writer.bytes.removeAll(keepingCapacity: true)
            writer.beginText()
        }
    }
}
