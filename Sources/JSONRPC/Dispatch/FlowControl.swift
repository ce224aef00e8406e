import Platform
import Synchronization

/// The resources that a request uses until its response is sent.
struct Load: Sendable, AdditiveArithmetic {
    /// The number of requests. A batch counts as the largest number of requests that it can contain.
    var requests: Int
    var bytes: Int

    static let zero = Load(requests: 0, bytes: 0)
    static func + (a: Load, b: Load) -> Load { Load(requests: a.requests + b.requests, bytes: a.bytes + b.bytes) }
    static func - (a: Load, b: Load) -> Load { Load(requests: a.requests - b.requests, bytes: a.bytes - b.bytes) }

    init(requests: Int, bytes: Int) {
        self.requests = requests
        self.bytes = bytes
    }

    /// Creates the load of one line. The shortest valid request has more than 30 bytes, so the load of a batch is never lower than its
    /// number of requests.
    init(line: UnsafeRawBufferPointer) {
        let isBatch = line.first == UInt8(ascii: "[")
        self.init(requests: isBatch ? min(Incoming.maximumBatch, line.count / 30 + 1) : 1, bytes: line.count)
    }
}

/// Limits the requests that are read without a response and the responses that are not yet sent. Counting uses no lock; only a thread that
/// has to wait takes one.
final class FlowControl: Sendable {
    struct Limits: Sendable {
        var unansweredRequests = 1024
        var unansweredBytes = 16 << 20
        var unsentBytes = 16 << 20
    }

    private let limits: Limits
    private let requests = Atomic(0)
    /// The requests whose response is not yet ready to be sent.
    private let open = Atomic(0)
    private let bytes = Atomic(0)
    private let unsent = Atomic(0)
    /// Lines that are assigned to the compute workers but not yet started.
    private let unread = Atomic(0)
    /// Requests that wait for an answer from the host. They need further input, so they do not count.
    private let aside = Atomic(0)
    private let waitingToRead = Atomic(0)
    private let waitingToAnswer = Atomic(0)
    private let closed = Atomic(false)
    private let gate = ConditionLock(())

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// The number of requests without a response, for reports. A request stops counting just before its response is sent.
    var openRequests: Int { open.load(ordering: .relaxed) }
    /// The number of requests whose response has not been sent.
    var unansweredRequests: Int { requests.load(ordering: .sequentiallyConsistent) }
    var unsentBytes: Int { unsent.load(ordering: .relaxed) }

    /// The number of requests that can be read at this moment.
    var room: Int { limits.unansweredRequests - requests.load(ordering: .relaxed) + aside.load(ordering: .relaxed) }

    // MARK: Counting

    func admit(_ load: Load, unread lines: Int = 0) {
        requests.wrappingAdd(load.requests, ordering: .relaxed)
        open.wrappingAdd(load.requests, ordering: .relaxed)
        bytes.wrappingAdd(load.bytes, ordering: .relaxed)
        if lines > 0 { unread.wrappingAdd(lines, ordering: .relaxed) }
    }

    /// Records that the responses to requests are about to be sent. The requests are released afterwards.
    func noteAnswers(to load: Load) { if load.requests > 0 { open.wrappingSubtract(load.requests, ordering: .relaxed) } }

    /// Records that a compute worker starts a line.
    func takeUpLine() {
        unread.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        wakeIfRoom()
    }

    /// Records that the responses to requests have been sent. Returns `true` if no request is left.
    @discardableResult
    func release(_ load: Load, unread lines: Int = 0) -> Bool {
        if lines > 0 { unread.wrappingSubtract(lines, ordering: .sequentiallyConsistent) }
        bytes.wrappingSubtract(load.bytes, ordering: .relaxed)
        let left = requests.wrappingSubtract(load.requests, ordering: .sequentiallyConsistent).newValue
        wakeIfRoom()
        return left == 0
    }

    /// Records that a request begins or stops to wait for the host.
    func waitForHost(_ begins: Bool) {
        aside.wrappingAdd(begins ? 1 : -1, ordering: .sequentiallyConsistent)
        if begins { wakeIfRoom() }
    }

    func addUnsent(_ count: Int) { unsent.wrappingAdd(count, ordering: .relaxed) }

    func removeUnsent(_ count: Int) {
        unsent.wrappingSubtract(count, ordering: .sequentiallyConsistent)
        wakeIfRoom()
    }

    // MARK: Waiting

    /// Whether more responses may be produced before some are sent.
    var mayAnswer: Bool { unsent.load(ordering: .relaxed) < limits.unsentBytes }

    /// Whether more input may be read. While the workers have enough lines, this waits for a quarter of the capacity instead of each
    /// released slot.
    private var mayRead: Bool {
        let requests = requests.load(ordering: .sequentiallyConsistent) - aside.load(ordering: .sequentiallyConsistent)
        guard requests < limits.unansweredRequests, bytes.load(ordering: .relaxed) < limits.unansweredBytes, mayAnswer else { return false }
        return requests <= limits.unansweredRequests / 4 * 3 || unread.load(ordering: .relaxed) <= limits.unansweredRequests / 4
    }

    /// Waits until more input may be read or the process shuts down.
    func waitToRead() { if !mayRead { wait(as: waitingToRead) { $0.mayRead } } }

    /// Waits until more responses may be produced or the process shuts down.
    func waitToAnswer() { if !mayAnswer { wait(as: waitingToAnswer) { $0.mayAnswer } } }

    /// Ends all waits, including those that begin later.
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

    /// Wakes waiting threads only if they can proceed: at the limit, a line is released every few microseconds.
    private func wakeIfRoom() {
        let mayGoOn =
            waitingToRead.load(ordering: .sequentiallyConsistent) > 0 && mayRead
            || waitingToAnswer.load(ordering: .sequentiallyConsistent) > 0 && mayAnswer
        guard mayGoOn else { return }
        gate.withLock { _ in }
        gate.broadcast()
    }
}
