import JSON
import Platform

/// What a thread that runs calls has for itself.
struct Workbench {
    /// Answers are written here; the buffer is used again and again.
    var writer = JSONWriter(reservingCapacity: 4096)
    /// Tells the threads apart; small.
    let number: Int

    private static let keptCapacity = 256 * 1024

    init(number: Int) { self.number = number }

    /// Forgets what was written, which may be secret, and gives memory back after something large.
    mutating func clear() {
        writer.bytes.wipe()
        if writer.bytes.capacity > Self.keptCapacity { writer = JSONWriter(reservingCapacity: 4096) }
        writer.beginText()
    }
}
