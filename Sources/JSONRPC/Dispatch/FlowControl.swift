import Platform
import Synchronization

/// What a request that is not answered yet weighs.
struct Load: Sendable, AdditiveArithmetic {
    /// Requests; a batch counts for as many as can stand in it.
    var requests: Int
    var bytes: Int

    static let zero = Load(requests: 0, bytes: 0)
    static func + (a: Load, b: Load) -> Load { Load(requests: a.requests + b.requests, bytes: a.bytes + b.bytes) }
    static func - (a: Load, b: Load) -> Load { Load(requests: a.requests - b.requests, bytes: a.bytes - b.bytes) }

    init(requests: Int, bytes: Int) {
        self.requests = requests
        self.bytes = bytes
    }

    /// The load of one line. The shortest valid request has more than 30 bytes, so a batch weighs no less than it holds.
    init(line: UnsafeRawBufferPointer) {
        let isBatch = line.first == UInt8(ascii: "[")
        self.init(requests: isBatch ? min(Incoming.maximumBatch, line.count / 30 + 1) : 1, bytes: line.count)
    }
}

/// Bounds what is read and not answered, and what is answered and not sent. Counting is free of locks; only who must wait
/// takes one.
final class FlowControl: Sendable {
    struct Limits: Sendable {
        var unansweredRequests = 1024
        var unansweredBytes = 16 << 20
        var unsentBytes = 16 << 20
    }

    private let limits: Limits
    private let requests = Atomic(0)
    /// Requests whose answer is not on its way yet.
    private let open = Atomic(0)
    private let bytes = Atomic(0)
    private let unsent = Atomic(0)
    /// Lines handed to the compute workers and not read by them yet.
    private let unread = Atomic(0)
    private let waitingToRead = Atomic(0)
    private let waitingToAnswer = Atomic(0)
    private let closed = Atomic(false)
    private let gate = Gate(())

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Requests without an answer, for people: one stops counting just before its answer is sent.
    var openRequests: Int { open.load(ordering: .relaxed) }
    /// Requests without an answer that was sent.
    var unansweredRequests: Int { requests.load(ordering: .sequentiallyConsistent) }
    var unsentBytes: Int { unsent.load(ordering: .relaxed) }

    /// How many more requests may be read at this moment.
    var room: Int { limits.unansweredRequests - requests.load(ordering: .relaxed) }

    // MARK: Counting

    func admit(_ load: Load, unread lines: Int = 0) {
        requests.wrappingAdd(load.requests, ordering: .relaxed)
        open.wrappingAdd(load.requests, ordering: .relaxed)
        bytes.wrappingAdd(load.bytes, ordering: .relaxed)
        if lines > 0 { unread.wrappingAdd(lines, ordering: .relaxed) }
    }

    /// Notes that the answers to requests are about to be sent; then they are released.
    func noteAnswers(to load: Load) { if load.requests > 0 { open.wrappingSubtract(load.requests, ordering: .relaxed) } }

    /// Notes that a compute worker takes up a line.
    func takeUpLine() {
        unread.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        wakeIfRoom()
    }

    /// Notes that requests are answered. True when none is left.
    @discardableResult
    func release(_ load: Load, unread lines: Int = 0) -> Bool {
        if lines > 0 { unread.wrappingSubtract(lines, ordering: .sequentiallyConsistent) }
        bytes.wrappingSubtract(load.bytes, ordering: .relaxed)
        let left = requests.wrappingSubtract(load.requests, ordering: .sequentiallyConsistent).newValue
        wakeIfRoom()
        return left == 0
    }

    func addUnsent(_ count: Int) { unsent.wrappingAdd(count, ordering: .relaxed) }

    func removeUnsent(_ count: Int) {
        unsent.wrappingSubtract(count, ordering: .sequentiallyConsistent)
        wakeIfRoom()
    }

    // MARK: Waiting

    /// Whether more answers may be made before some are sent.
    var mayAnswer: Bool { unsent.load(ordering: .relaxed) < limits.unsentBytes }

    /// Whether more may be read. While the workers have lines enough this waits for a quarter of the room, not for
    /// every place that gets free.
    private var mayRead: Bool {
        let requests = requests.load(ordering: .sequentiallyConsistent)
        guard requests < limits.unansweredRequests, bytes.load(ordering: .relaxed) < limits.unansweredBytes, mayAnswer else { return false }
        return requests <= limits.unansweredRequests / 4 * 3 || unread.load(ordering: .relaxed) <= limits.unansweredRequests / 4
    }

    /// Waits until more may be read, or the process is to end.
    func waitToRead() { if !mayRead { wait(as: waitingToRead) { $0.mayRead } } }

    /// Waits until more answers may be made, or the process is to end.
    func waitToAnswer() { if !mayAnswer { wait(as: waitingToAnswer) { $0.mayAnswer } } }

    /// Lets everyone go on, now and from now on.
    func close() {
        closed.store(true, ordering: .sequentiallyConsistent)
        gate.withLock { _ in }
        gate.broadcast()
    }

    private func wait(as waiting: borrowing Atomic<Int>, until holds: (FlowControl) -> Bool) {
        waiting.wrappingAdd(1, ordering: .sequentiallyConsistent)
        gate.wait { _ in holds(self) || closed.load(ordering: .sequentiallyConsistent) ? () : nil }
        waiting.wrappingSubtract(1, ordering: .relaxed)
    }

    /// Wakes those whose wait is over, and nobody only to look around: at the limit a line is released every few microseconds.
    private func wakeIfRoom() {
        let mayGoOn =
            waitingToRead.load(ordering: .sequentiallyConsistent) > 0 && mayRead
            || waitingToAnswer.load(ordering: .sequentiallyConsistent) > 0 && mayAnswer
        guard mayGoOn else { return }
        gate.withLock { _ in }
        gate.broadcast()
    }
}
