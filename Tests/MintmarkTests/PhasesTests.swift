import Contract
import Glibc
import JSON
import Platform
import Storage
import Synchronization
import Testing

@testable import JSONRPC
@testable import Mintmark

/// The method of these tests. Its handler is that of each test.
private enum Phased: ContractMethod {
    struct Params: ContractParams {
        init(_ reader: inout ParamsReader) {}
    }

    struct Result: ContractResult {
        let text: String
        init(_ text: String) { self.text = text }
        func write(to writer: inout JSONWriter) { writer.string(text) }
    }

    static let info = SystemPing.info
}

private typealias Handler = @Sendable (_ params: Phased.Params, _ call: any CallContext) throws -> Phase<Phased.Result>

/// A server with the methods `phased`, whose handler has phases, and `quick`. Its input and its output are sockets.
private final class PhasedServer: Sendable {
    private let toServer: Int32
    private let fromServer: Int32
    private let server: Server
    private let ended = ConditionLock<ServerEnding?>(nil)

    init(_ options: ServerOptions = ServerOptions(), _ handler: @escaping Handler) {
        let mintmark = Mintmark(Configuration(store: .memory))
        let body = MethodBody(
            .storeIndependent(BoundMethod(Phased.self, phases: handler).run), mintmark,
            CallAdapter.Origin(isPublicCaller: false, actor: nil))
        let methods = MethodTable([Method("phased") { try body.run($0, $1, &$2) }, Method("quick") { _, _, _ in }])
        var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &input)
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &output)
        (toServer, fromServer) = (input[1], output[0])
        let (writes, ended) = (output[1], ended)
        let server = Server(methods, input: input[0], output: writes, options: options) { ending in
            close(writes)
            ended.withLock { $0 = ending }
            ended.broadcast()
        }
        self.server = server
        _ = Thread.start(name: "server") { server.run() }
    }

    deinit {
        close(toServer)
        close(fromServer)
    }

    func send(_ methods: String..., from first: Int = 0) {
        let lines = methods.enumerated().map { "{\"jsonrpc\":\"2.0\",\"id\":\(first + $0),\"method\":\"\($1)\"}\n" }.joined()
        _ = lines.withCString { write(toServer, $0, strlen($0)) }
    }

    func cancel(_ id: Int) {
        let line = "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\(id)}}\n"
        _ = line.withCString { write(toServer, $0, strlen($0)) }
    }

    func endInput() { shutdown(toServer, Int32(SHUT_WR)) }
    func terminate() { server.terminate() }

    /// Reads `count` responses, or until the end of the output, as their IDs with their result or the type of their error.
    func responses(_ count: Int = .max) -> [String] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        var lines = 0
        while lines < count, read(fromServer, &byte, 1) == 1 {
            bytes.append(byte)
            if byte == 10 { lines += 1 }
        }
        return bytes.split(separator: 10).compactMap { line in
            guard let answer = try? JSONValue(parsing: Array(line)), let id = answer["id"]?.int else { return nil }
            return "\(id) \(answer["error"]?["data"]?["type"]?.string ?? answer["result"]?.string ?? "null")"
        }
    }

    func waitForEnd() -> ServerEnding? { ended.wait(deadline: Monotonic.nanoseconds() + 20_000_000_000) { $0 } }
}

/// An event that a test ends, and the number of calls that gave it up.
private final class TestEvent: Sendable {
    private let waiting = ConditionLock<[@Sendable () -> Void]>([])
    let givenUp = ConditionLock(0)

    func awaited(isBrief: Bool = false) -> AwaitedEvent {
        AwaitedEvent(
            isBrief: isBrief,
            giveUp: {
                self.givenUp.withLock { $0 += 1 }
                self.givenUp.broadcast()
            }
        ) { resume in
            self.waiting.withLock { $0.append(resume) }
            self.waiting.broadcast()
        }
    }

    /// Returns when this number of calls wait.
    func isAwaited(by count: Int = 1) { waiting.wait { $0.count == count ? () : nil } }
    func end() { for resume in waiting.withLock({ $0 }) { resume() } }
}

/// Counts the runs of the phases of a handler.
private final class Runs: Sendable {
    private let counts = Mutex((first: 0, rest: 0))
    func first() { counts.withLock { $0.first += 1 } }
    func rest() { counts.withLock { $0.rest += 1 } }
    var all: [Int] { counts.withLock { [$0.first, $0.rest] } }
}

@Suite("handlers in phases, on a server", .timeLimit(.minutes(1)))
struct PhasesTests {
    private static let modes = [false, true]

    private func options(_ isSequential: Bool) -> ServerOptions {
        var options = ServerOptions()
        options.sequential = isSequential
        return options
    }

    @Test("each phase runs once, with the store access of its wait", arguments: modes)
    func phases(isSequential: Bool) {
        let (runs, event) = (Runs(), TestEvent())
        let server = PhasedServer(options(isSequential)) { _, _ in
            runs.first()
            return .next(.store) { call in
                let store = call.storeAccess.mayWait
                return .next(.write) { call in
                    let write = call.storeAccess.decidesInWrite
                    return .next(.network) { call in
                        let network = (call as? CallAdapter)?.mayWaitForOthers
                        return .next(.event(event.awaited(isBrief: true))) { _ in
                            runs.rest()
                            return .done(Phased.Result("\(store) \(write) \(network == true)"))
                        }
                    }
                }
            }
        }
        server.send("phased")
        event.isAwaited()
        #expect(runs.all == [1, 0])
        event.end()
        // Only the first end of an event counts.
        event.end()
        #expect(server.responses(1) == ["0 true true true"])
        server.endInput()
        #expect(server.responses() == [])
        #expect(runs.all == [1, 1])
    }

    @Test("calls that wait for an event occupy no thread, and other calls overtake them")
    func waitingWithoutThread() {
        let (runs, event) = (Runs(), TestEvent())
        let server = PhasedServer { _, _ in
            .next(.event(event.awaited())) { _ in
                runs.rest()
                return .done(Phased.Result("over"))
            }
        }
        for id in 0..<200 { server.send("phased", from: id) }
        event.isAwaited(by: 200)
        server.send("quick", from: 200)
        #expect(server.responses(1) == ["200 null"])
        event.end()
        #expect(Set(server.responses(200)) == Set((0..<200).map { "\($0) over" }))
        #expect(runs.all[1] == 200)
    }

    @Test("in sequential mode a call waits for an event on its thread, and the next call begins after it")
    func sequentialEvent() {
        let threads = Mutex<[pthread_t]>([])
        let event = TestEvent()
        let server = PhasedServer(options(true)) { _, _ in
            threads.withLock { $0.append(pthread_self()) }
            return .next(.event(event.awaited())) { _ in
                threads.withLock { $0.append(pthread_self()) }
                return .done(Phased.Result("over"))
            }
        }
        server.send("phased", "quick")
        server.send("quick", from: 2)
        event.isAwaited()
        event.end()
        #expect(server.responses(3) == ["0 over", "1 null", "2 null"])
        let ran = threads.withLock { $0 }
        #expect(ran.count == 2 && ran[0] == ran[1])
    }

    @Test("a canceled wait gives up its event once, and the rest does not run", arguments: modes)
    func cancellation(isSequential: Bool) {
        let (runs, event) = (Runs(), TestEvent())
        let server = PhasedServer(options(isSequential)) { _, _ in
            runs.first()
            return .next(.event(event.awaited())) { _ in
                runs.rest()
                return .done(Phased.Result("over"))
            }
        }
        server.send("phased")
        event.isAwaited()
        server.cancel(0)
        #expect(server.responses(1) == ["0 requestCancelled"])
        event.givenUp.wait { $0 == 1 ? () : nil }
        event.end()
        server.send("quick", from: 1)
        #expect(server.responses(1) == ["1 null"])
        server.endInput()
        #expect(server.responses() == [])
        #expect(runs.all == [1, 0])
        #expect(event.givenUp.withLock { $0 } == 1)
    }

    @Test(
        "an error of a rest is the response, and later rests do not run",
        arguments: [
            (Cancelled(), "requestCancelled"), (ContinuationTokenExpired(), "continuationTokenExpired"),
            (Broken(), "internalError"),
        ] as [(any Error & Sendable, String)], modes)
    func failure(error: (any Error & Sendable, type: String), isSequential: Bool) {
        let runs = Runs()
        let server = PhasedServer(options(isSequential)) { _, call in
            try Phase<Int>.next(.store) { _ in
                runs.first()
                throw error.0
            }.then(call) { _, _ in
                runs.rest()
                return .done(Phased.Result("unreachable"))
            }
        }
        server.send("phased")
        #expect(server.responses(1) == ["0 \(error.type)"])
        #expect(runs.all == [1, 0])
    }

    private struct Broken: Error {}

    @Test("an event with a time limit runs the rest when the limit has passed, and an end after it changes nothing", arguments: modes)
    func timeLimit(isSequential: Bool) {
        let (runs, timers) = (Runs(), TimerThread())
        let ends = ConditionLock<(@Sendable () -> Void)?>(nil)
        let server = PhasedServer(options(isSequential)) { _, _ in
            let limited = AwaitedEvent { resume in
                // Whichever comes first ends the wait.
                let isOver = Mutex(false)
                let once: @Sendable () -> Void = {
                    let isFirst = isOver.withLock { isOver in
                        defer { isOver = true }
                        return !isOver
                    }
                    if isFirst { resume() }
                }
                ends.withLock { $0 = once }
                timers.after(nanoseconds: 1_000_000, once)
            }
            return .next(.event(limited)) { _ in
                runs.rest()
                throw ContinuationTokenExpired()
            }
        }
        server.send("phased")
        #expect(server.responses(1) == ["0 continuationTokenExpired"])
        ends.withLock { $0 }?()
        server.endInput()
        #expect(server.responses() == [])
        #expect(runs.all[1] == 1)
    }

    @Test("the end of the input ends a wait for a user, and completes a brief wait", arguments: modes)
    func endOfInput(isSequential: Bool) {
        for isBrief in [false, true] {
            let (runs, event) = (Runs(), TestEvent())
            let server = PhasedServer(options(isSequential)) { _, _ in
                .next(.event(event.awaited(isBrief: isBrief))) { _ in
                    runs.rest()
                    return .done(Phased.Result("over"))
                }
            }
            server.send("phased")
            event.isAwaited()
            server.endInput()
            if isBrief { event.end() }
            #expect(server.responses() == [isBrief ? "0 over" : "0 shuttingDown"])
            #expect(server.waitForEnd() == .inputEnded)
            #expect(runs.all[1] == (isBrief ? 1 : 0))
            if !isBrief { event.givenUp.wait { $0 == 1 ? () : nil } }
        }
    }

    @Test("a termination ends a wait when its time has passed, and the rest does not run")
    func termination() {
        let (runs, event) = (Runs(), TestEvent())
        var options = ServerOptions()
        options.drainSeconds = 0
        let server = PhasedServer(options) { _, _ in
            .next(.event(event.awaited(isBrief: true))) { _ in
                runs.rest()
                return .done(Phased.Result("over"))
            }
        }
        server.send("phased")
        event.isAwaited()
        server.terminate()
        #expect(server.responses() == ["0 shuttingDown"])
        event.end()
        #expect(runs.all[1] == 0)
        #expect(event.givenUp.withLock { $0 } == 1)
    }

    @Test("above the maximum of waiting calls, a wait for a user fails, and a brief wait takes a thread")
    func maximumWaiting() {
        var options = ServerOptions()
        options.maximumWaiting = 1
        let event = TestEvent()
        let count = Mutex(0)
        let server = PhasedServer(options) { _, _ in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return .next(.event(event.awaited(isBrief: number != 1))) { _ in .done(Phased.Result("over")) }
        }
        server.send("phased")
        event.isAwaited()
        server.send("phased", from: 1)
        #expect(server.responses(1) == ["1 tooManyRequests"])
        server.send("phased", from: 2)
        event.isAwaited(by: 2)
        event.end()
        #expect(Set(server.responses(2)) == ["0 over", "2 over"])
    }
}
