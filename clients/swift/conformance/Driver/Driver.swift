import FoundationEssentials
import Glibc
import MintmarkClient
import Synchronization

/// Performs the steps of the conformance runner.
actor Driver {
    private var clients: [String: Mintmark] = [:]
    private var heard: [String: Heard] = [:]
    private var asked: [String: Asked] = [:]
    private var calls: [String: Task<JSONValue, Never>] = [:]
    private var providers: [String: Provided] = [:]
    private let makeClient: Open

    init(open: @escaping Open) { makeClient = open }

    func carryOut(_ step: Step) async throws -> JSONValue {
        switch step["do"]?.string ?? "call" {
        case "open", "testing": try await open(step)
        case "close": await clients[text(step, "client")]?.close(within: seconds(step, "graceSeconds") ?? .seconds(10))
        case "begin":
            var then = step
            then["do"] = step["then"]
            let work = then
            calls[text(step, "call")] = Task { await told { try await self.work(work) } }
        case "await":
            guard let call = calls[text(step, "call")] else { throw Fault(reason: "there is no such call") }
            throw Told(answer: await call.value)
        case "cancel": calls[text(step, "call")]?.cancel()
        case "notifications": return .array(await heard[text(step, "client")]?.all ?? [])
        case "hooks.asked": return .array(await asked[text(step, "client")]?.all ?? [])
        case "left": return threads.wire
        default: return try await work(step)
        }
        return .null
    }

    /// Performs the steps that can run in the background.
    private func work(_ step: Step) async throws -> JSONValue {
        let what = step["do"]?.string ?? "call"
        let client = clients[text(step, "client")]
        if what.hasPrefix("provider.") { return try await provide(what, step) }
        guard let client else { throw Fault(reason: "there is no client for the step \(what)") }
        switch what {
        case "call": return try await call(client, step, step["params"]?.object ?? [:])
        case "many": return await many(client, step)
        case "bench": return try await bench(client, step)
        case "strange":
            let claims: JSONObject = ["value": try JSONValue(any: try strange(text(step, "value")))]
            return try await client.account.setClaims(accountId: "a", claims: claims).wire
        default: throw Fault(reason: "there is no step \(what)")
        }
    }

    private func open(_ step: Step) async throws {
        let name = text(step, "client")
        var options = Mintmark.Options()
        options.store = step["store"]?.string
        options.app = step["app"]?.string
        options.binary = step["binary"]?.string
        options.testing = step["testing"]?.bool ?? false
        options.restart = step["restart"]?.bool
        options.arguments = step["arguments"]?.array?.compactMap(\.string) ?? []
        options.timeout = seconds(step, "timeoutSeconds")
        options.log = .discarded
        let asked = Asked()
        self.asked[name] = asked
        options.hooks = asked.hooks(step)
        if step["do"]?.string == "testing" { (options.store, options.testing) = (":memory:", true) }
        let client = try await makeClient(options)
        clients[name] = client
        await asked.set(client)
        let heard = Heard()
        self.heard[name] = heard
        let notifications = client.notifications
        Task { for await each in notifications { await heard.add(each) } }
    }

    /// Calls the typed method if it accepts these parameters; otherwise calls the method by its name.
    private nonisolated func call(_ client: Mintmark, _ step: Step, _ params: JSONObject) async throws -> JSONValue {
        let (method, timeout, trace) = (text(step, "method"), seconds(step, "timeoutSeconds"), step["trace"]?.string)
        var given = Given(params)
        do {
            if let result = try await typed(method, &given, client, timeout, trace) { return result }
        } catch is Given.DoesNotFit {}
        return try await client.call(method, params, timeout: timeout, trace: trace)
    }

    private nonisolated func many(_ client: Mintmark, _ step: Step) async -> JSONValue {
        let all = step["params"]?.array ?? []
        return await withTaskGroup(of: (Int, JSONValue).self) { group in
            for (number, params) in all.enumerated() {
                group.addTask { (number, await told { try await self.call(client, step, params.object ?? [:]) }) }
            }
            var answers = [JSONValue](repeating: .null, count: all.count)
            for await (number, answer) in group { answers[number] = answer }
            return .array(answers)
        }
    }

    /// Performs `calls` calls of a typed method with `atOnce` concurrent callers, and returns the elapsed time in seconds.
    private nonisolated func bench(_ client: Mintmark, _ step: Step) async throws -> JSONValue {
        let (method, params) = (text(step, "method"), step["params"]?.object ?? [:])
        let left = Countdown(from: Int(step["calls"]?.int ?? 0))
        let clock = ContinuousClock()
        let began = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<(step["atOnce"]?.int ?? 1) {
                group.addTask {
                    while left.hasMore {
                        var given = Given(params)
                        guard try await typed(method, &given, client, nil, nil) != nil else {
                            throw Fault(reason: "there is no typed method \(method)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return try JSONValue((clock.now - began) / .seconds(1))
    }

    private func provide(_ what: String, _ step: Step) async throws -> JSONValue {
        let name = text(step, "provider")
        if what == "provider.open" {
            guard let client = clients[text(step, "client")] else { throw Fault(reason: "there is no such client") }
            providers[name] = Provided(client, step["params"]?.object ?? [:], backend: text(step, "backend"))
            return .null
        }
        guard let provided = providers[name] else { throw Fault(reason: "there is no provider \(name)") }
        return try await provided.carryOut(what, step)
    }

    /// The number of threads, except those that have the name of the program: the Swift concurrency pool starts and ends them as needed.
    private var threads: Int {
        func name(_ task: String) -> String? { try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8) }
        let own = name(String(getpid()))
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap(name).count { $0 != own }
    }

    private func strange(_ what: String) throws -> Any {
        final class Cycle: Sendable { nonisolated(unsafe) var itself: Cycle? }
        switch what {
        case "nan": return Double.nan
        case "infinity": return Double.infinity
        case "cycle":
            let cycle = Cycle()
            cycle.itself = cycle
            defer { cycle.itself = nil }
            return cycle
        case "surrogate": return String(decoding: [0xED, 0xA0, 0x80] as [UInt8], as: UTF8.self)
        case "date": return Date()
        case "function": return { () in }
        case "bytes": return [0, 1, 255] as [UInt8]
        case "set": return ["a", "b"] as Set
        case "bigint": return (1 as Int128) << 70
        case "deep": return (0..<100).reduce(1 as Any) { value, _ in [value] }
        default: throw Fault(reason: "there is no value \(what)")
        }
    }
}

/// A counter that several tasks decrement.
final class Countdown: Sendable {
    private let left: Atomic<Int>
    init(from count: Int) { left = Atomic(count) }
    var hasMore: Bool { left.subtract(1, ordering: .relaxed).oldValue > 0 }
}

/// The notifications that a client has received.
actor Heard {
    private(set) var all: [JSONValue] = []

    func add(_ notification: Mintmark.Notification) {
        all.append(["method": .string(notification.method), "params": .object(notification.params)])
    }
}

func text(_ step: Step, _ name: String) -> String { step[name]?.string ?? "" }

func seconds(_ step: Step, _ name: String) -> Duration? { step[name]?.number.map { .seconds($0.double) } }
