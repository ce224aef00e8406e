import Glibc
import JSON
import Platform
import Synchronization

/// Serves methods over a pair of descriptors until the input ends, the host stops reading, a signal arrives or the parent process ends.
public final class Server: Sendable {
    private let options: ServerOptions
    private let input: Int32
    private let output: Int32
    private let dispatcher: Dispatcher
    private let flow: FlowControl
    private let outbox: Outbox
    private let numbers = WorkerNumbers()
    private let end: ServerEnd

    /// - Parameters:
    ///   - input: The descriptor that is read until it ends.
    ///   - output: The descriptor for responses. No other code may write to it.
    ///   - onEnd: Runs last and once, on the thread that ends the server. It does not have to return.
    public init(
        _ methods: any MethodLookup, input: Int32, output: Int32, options: ServerOptions = ServerOptions(),
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
        let performer = MethodRunner(
            methods: methods, observer: options.observer, maximumAnswer: options.maximumAnswer, dialect: options.dialect)
        let lanes = Lanes(sequential: options.sequential, numbers: numbers)
        dispatcher = Dispatcher(
            .init(performer: performer, flow: flow, outbox: outbox, lanes: lanes, options: options),
            onIdle: { end.stir() })
        end.prepare { [weak self] in self?.drainAndEnd() }
    }

    /// The number of requests without a response. A request stops counting just before its response is sent, so a request whose response
    /// was received is not included.
    public var inFlight: Int { flow.openRequests }

    /// Reads and serves requests. Returns after the input has ended, all responses are sent and `onEnd` has run.
    ///
    /// - Parameter prepare: Runs once on this thread: before it waits for input, or after it has read the input that is already there.
    public func run(preparing prepare: () -> Void = {}) {
        options.hostRequests?.connect(dispatcher.hostConnection)
        if let parent = options.parent { ParentWatch.start(parent) { self.end.begin() } }
        let failure =
            switch options.framing {
            case .lines: readAll(LineReader(input, maximumLine: options.maximumLine), preparing: prepare)
            case .contentLength: readAll(FrameReader(input, maximumBody: options.maximumLine), preparing: prepare)
            }
        // No further answer of the host can arrive.
        options.hostRequests?.disconnect()
        if end.hasBegun {
            end.waitUntilOver()
        } else {
            finishWhatWasRead()
            if end.hasBegun { return end.waitUntilOver() }
            end.note(failure.map { .inputUnreadable($0) } ?? .inputEnded)
            end.finish()
        }
    }

    /// Finishes all requests that were read before the end of the input, without a time limit, as long as the output has a reader. Only
    /// calls that wait for users end, including those that begin to wait now.
    private func finishWhatWasRead() {
        let isDone = { self.flow.unansweredRequests == 0 && self.outbox.isEmpty || self.end.hasBegun }
        dispatcher.endWaits()
        while !end.wait(deadline: Monotonic.nanoseconds() + Self.lookNanoseconds, until: isDone) {
            dispatcher.endWaits()
            if Descriptors.isReadByNobody(output) { end.outputBroke(EPIPE) }
        }
    }

    /// The interval at which the output is checked for a reader after the end of the input.
    private static let lookNanoseconds: UInt64 = 250_000_000

    /// Ends the server as SIGTERM does: running calls get `drainSeconds` to complete, and the other requests get `shuttingDown`.
    public func terminate() { end.begin() }

    // MARK: Reading

    /// The maximum size of a chunk, which one worker processes.
    private static let chunkLines = 32
    private static let chunkBytes = 64 * 1024

    /// - Returns: `nil`, or the `errno` if the input can no longer be read.
    private func readAll<Reader: MessageReader & ~Copyable>(_ reader: consuming Reader, preparing prepare: () -> Void) -> Int32? {
        var bench = WorkerState(number: numbers.take())
        var isPrepared = false
        while !end.hasBegun {
            flow.waitToRead()
            if !isPrepared, !Descriptors.hasInput(input) {
                prepare()
                isPrepared = true
            }
            guard case .some = reader.fill() else { break }
            readLines(&reader, &bench)
            if !isPrepared {
                prepare()
                isPrepared = true
            }
            // This thread may now block for a long time. Data that it copied must not stay in its registers.
            ProcessMemory.wipeRegisters()
        }
        return reader.failure
    }

    private func readLines<Reader: MessageReader & ~Copyable>(_ reader: inout Reader, _ bench: inout WorkerState) {
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
                if let requests = options.hostRequests, requests.accept(text) { continue }
                let load = Load(line: text)
                if end.hasBegun {
                    flow.admit(load)
                    dispatcher.refuse(text, unread: 0)
                    continue
                }
                if LineReader.mayBeControl(text) || reader.isDrained && pending.isEmpty && mayRunInline {
                    // Cancellations overtake the requests that they cancel. A single request needs no other thread.
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

    /// In sequential mode all calls run on the single compute worker. A call that started here and then moved could be overtaken.
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
        dispatcher.submit(LineBatch(bytes: pending.bytes, lines: pending.lines, load: pending.load))
        pending = Pending()
    }

    // MARK: Shutdown

    private func drainAndEnd() {
        let deadline = Monotonic.nanoseconds() + UInt64(max(0, options.drainSeconds)) * 1_000_000_000
        let isDone = { self.flow.unansweredRequests == 0 && self.outbox.isEmpty }
        if !end.wait(deadline: deadline, until: isDone) {
            dispatcher.cutOff()
            options.hostRequests?.disconnect()
            _ = end.wait(deadline: Monotonic.nanoseconds() + 250_000_000) { self.outbox.isEmpty }
        }
        flow.close()
        outbox.close()
        end.finish()
    }
}
