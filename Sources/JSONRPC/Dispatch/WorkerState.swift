import JSON
import Platform

/// The private state of a thread that runs calls.
struct WorkerState {
    /// The writer of responses. Its buffer is reused.
    var writer = JSONWriter(reservingCapacity: 4096)
    /// A small number that identifies the thread.
    let number: Int
    /// The values that the calls of the current sequence share; `nil` outside a sequence of pipelined calls.
    var shared: (any SharedByCalls)?

    private static let keptCapacity = 256 * 1024

    init(number: Int) { self.number = number }

    /// Overwrites the output, which may contain secrets, and releases the memory of a large buffer.
    mutating func clear() {
        writer.bytes.wipe()
        if writer.bytes.capacity > Self.keptCapacity { writer = JSONWriter(reservingCapacity: 4096) }
        writer.beginText()
    }
}
