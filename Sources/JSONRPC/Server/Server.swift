import Glibc
import JSON
import Platform
import Synchronization

/// Serves methods over a pair of descriptors until the input ends, the host stops reading, a signal comes or the parent is gone.
public final class Server: Sendable {
    private let options: ServerOptions
    private let input: Int32
    private let output: Int32
    private let dispatcher: Dispatcher
    private let flow: FlowControl
    private let outbox: Outbox
    private let numbers = WorkerNumbers()
    private let end: ServerEnd

    /// Runs `body`, a run of pipelined calls on one thread: all of them were received before it, none is answered in it.
    public typealias Together = @Sendable (_ body: () -> Void) -> Void

    /// - Parameters:
    ///   - input: read until it ends.
    ///   - output: carries answers and nothing else; nobody else may write there.
    ///   - observer: is told of every call.
    ///   - together: stands around calls that run one after the other, so that they can share what they read.
    ///   - onEnd: runs last, once, on whatever thread ends the server; it need not return.
    public init(
        _ methods: any MethodLookup, input: Int32, output: Int32, options: ServerOptions = ServerOptions(),
        observer: any CallObserver = NoObserver(), together: @escaping Together = { $0() },
        onEnd: @escaping @Sendable (ServerEnding) -> Void
    ) {
        self.options = options
        self.input = input
        self.output = output
        let end = ServerEnd(onEnd)
        let flow = FlowControl(
            .init(
                unansweredRequests: options.maximumUnanswered, unansweredBytes: max(16 << 20, options.maximumLine),
                unsentBytes: options.maximumUnsent))
        let outbox = Outbox(Output(output), flow: flow, onBroken: { end.outputBroke($0) }, onEmpty: { end.stir() })
        self.end = end
        self.flow = flow
        self.outbox = outbox
        dispatcher = Dispatcher(
            performer: Performer(
                methods: methods, observer: observer, maximumAnswer: options.maximumAnswer, dialect: options.dialect),
            flow: flow, outbox: outbox, lanes: Lanes(sequential: options.sequential, numbers: numbers), framing: options.framing,
            tap: options.tap,
            isSequential: options.sequential,
            mostWaiting: options.maximumWaiting, together: together, onIdle: { end.stir() })
        end.prepare { [weak self] in self?.drainAndEnd() }
    }

    /// How many requests are unanswered now. One stops counting just before its answer is sent: whoever has read it is not
    /// counted any more.
    public var inFlight: Int { flow.openRequests }

    /// Reads and serves. Returns when the input has ended, everything is answered and `onEnd` has run.
    public func run() {
        if let parent = options.parent { ParentWatch.start(parent) { self.end.begin() } }
        let failure = readAll()
        if end.hasBegun {
            end.waitUntilOver()
        } else {
            finishWhatWasRead()
            if end.hasBegun { return end.waitUntilOver() }
            end.note(failure.map { .inputUnreadable($0) } ?? .inputEnded)
            end.finish()
        }
    }

    /// The end of the input: everything that was read is finished, however long it takes, for as long as somebody can read the answers. Only
    /// what waits for people ends, also if it begins to wait now.
    private func finishWhatWasRead() {
        let isDone = { self.flow.unansweredRequests == 0 && self.outbox.isEmpty || self.end.hasBegun }
        dispatcher.endWaits()
        while !end.wait(deadline: Monotonic.nanoseconds() + Self.lookNanoseconds, until: isDone) {
            dispatcher.endWaits()
            if Descriptors.isReadByNobody(output) { end.outputBroke(EPIPE) }
        }
    }

    /// How often the host is looked after while something takes long after the end of the input.
    private static let lookNanoseconds: UInt64 = 250_000_000

    /// Ends the server as SIGTERM does: what is in flight gets `drainSeconds`, the rest is answered `shuttingDown`.
    public func terminate() { end.begin() }

    // MARK: Reading

    /// As many lines go to one worker at once.
    private static let chunkLines = 32
    private static let chunkBytes = 64 * 1024

    /// - Returns: nil, or the system's number for why the input can be read no further.
    private func readAll() -> Int32? {
        switch options.framing {
        case .lines: readAll(LineReader(input, maximumLine: options.maximumLine))
        case .contentLength: readAll(FrameReader(input, maximumBody: options.maximumLine))
        }
    }

    private func readAll<Reader: MessageReader & ~Copyable>(_ reader: consuming Reader) -> Int32? {
        var bench = Workbench(number: numbers.take())
        while !end.hasBegun {
            flow.waitToRead()
            guard case .some = reader.fill() else { break }
            readLines(&reader, &bench)
            // This thread waits next, perhaps for long: what it copied must not stay in its registers.
            ProcessMemory.wipeRegisters()
        }
        return reader.failure
    }

    private func readLines<Reader: MessageReader & ~Copyable>(_ reader: inout Reader, _ bench: inout Workbench) {
        var pending = Pending()
        while let line = reader.next() {
            switch line {
            case .tooLong:
                submit(&pending)
                dispatcher.refuseTooLong(options.maximumLine, on: &bench)
            case .refused(let flaw):
                submit(&pending)
                dispatcher.refuse(InvalidRequest(flaw.reason), on: &bench)
            case .text(let text):
                options.tap?.received(text)
                let load = Load(line: text)
                if end.hasBegun {
                    flow.admit(load)
                    dispatcher.refuse(text, unread: 0)
                    continue
                }
                if LineReader.mayBeControl(text) || reader.isDrained && pending.isEmpty && mayRunInline {
                    // Cancellations overtake what they cancel; a lone request needs no other thread.
                    submit(&pending)
                    dispatcher.handleAlone(text, load, on: &bench)
                    continue
                }
                pending.add(text, load)
                if pending.count >= min(Self.chunkLines, max(1, flow.room)) || pending.bytes.count >= Self.chunkBytes {
                    submit(&pending)
                    flow.waitToRead()
                }
            }
        }
        submit(&pending)
    }

    /// In sequence everything runs on the one compute worker: what begins here and moves on would be overtaken.
    private var mayRunInline: Bool { !options.sequential }

    private struct Pending {
        var bytes: [UInt8] = []
        var lines: [Range<Int>] = []
        var load = Load.zero
        var count: Int { lines.count }
        var isEmpty: Bool { lines.isEmpty }

        mutating func add(_ line: UnsafeRawBufferPointer, _ load: Load) {
            lines.append(bytes.count..<bytes.count + line.count)
            bytes.append(contentsOf: line)
            self.load = self.load + load
        }
    }

    private func submit(_ pending: inout Pending) {
        if pending.isEmpty { return }
        dispatcher.submit(Chunk(bytes: pending.bytes, lines: pending.lines, load: pending.load))
        pending = Pending()
    }

    // MARK: Ending

    private func drainAndEnd() {
        let deadline = Monotonic.nanoseconds() + UInt64(max(0, options.drainSeconds)) * 1_000_000_000
        let isDone = { self.flow.unansweredRequests == 0 && self.outbox.isEmpty }
        if !end.wait(deadline: deadline, until: isDone) {
            dispatcher.cutOff()
            _ = end.wait(deadline: Monotonic.nanoseconds() + 250_000_000) { self.outbox.isEmpty }
        }
        flow.close()
        outbox.close()
        end.finish()
    }
}
