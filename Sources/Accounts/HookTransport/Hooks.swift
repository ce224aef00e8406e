import Contract
import Crypto
import JSON
import Messages
import Network
import Platform
import ServiceContext
import Storage

/// The host of the process, which answers hooks over the pipe. Implemented in `Mintmark`.
public protocol HookHost: Sendable {
    /// Whether the process has a host that can receive requests.
    var isConnected: Bool { get }
    /// The hooks that the host has offered to answer.
    var offered: Set<HookName> { get }
    func offer(_ hooks: Set<HookName>)
    /// Sends a request, and waits for its answer on the calling thread.
    ///
    /// - Parameter isCancelled: Whether the caller of the operation no longer needs it.
    func ask(_ hook: HookName, _ params: JSONValue, within milliseconds: Int, isCancelled: @escaping @Sendable () -> Bool) -> HookReply
    /// Runs `body`, which waits for another machine. Another thread does the work of the current one until `body` returns.
    func whileWaiting<R>(_ body: () throws -> R) rethrows -> R
    /// Ends the requests that wait now, as if their deadline had passed.
    func expire()
}

/// The answer to a hook.
public enum HookReply: Sendable {
    case result(JSONValue)
    /// The hook returned an error, or none of the others. Contains the reason.
    case failed(HookFailed.Check, String)
    /// The operation was canceled while the hook was asked.
    case cancelled
}

/// A process without a host.
public struct NoHookHost: HookHost {
    public var isConnected: Bool { false }
    public var offered: Set<HookName> { [] }
    public init() {}
    public func offer(_ hooks: Set<HookName>) {}
    public func ask(
        _ hook: HookName, _ params: JSONValue, within milliseconds: Int, isCancelled: @escaping @Sendable () -> Bool
    ) -> HookReply {
        .failed(.ended, "This process has no host.")
    }
    public func whileWaiting<R>(_ body: () throws -> R) rethrows -> R { try body() }
    public func expire() {}
}

/// The transports of hooks.
public struct HookTransports: Sendable {
    let host: any HookHost
    let http: (any HTTPClient)?

    public init(host: any HookHost = NoHookHost(), http: (any HTTPClient)? = nil) {
        self.host = host
        self.http = http
    }
}

/// Asks the hooks of tenants. A hook is asked once for each decision, never in a transaction, and never a second time by itself.
public final class Hooks: Sendable {
    /// The time within which a hook must answer.
    static let deadlineSeconds: Int64 = 7

    private let cache = EpochCache<HookSettings>()
    let transports: HookTransports
    /// The functions that decide in place of a hook that the tenant does not have.
    private let functions = UnfairLock<(any HookFunctions)?>(nil)

    init(_ transports: HookTransports) { self.transports = transports }

    /// Returns the hooks of a tenant, cached for one store epoch.
    func settings(of tenantId: String, in tx: Transaction) throws -> HookSettings {
        try cache.value(for: tenantId, in: tx) { try tx.hooks(of: tenantId) } ?? HookSettings(tenantId: tenantId)
    }

    /// Sets the functions that decide in place of hooks, for the API of another product.
    package func use(_ functions: any HookFunctions) { self.functions.withLock { $0 = functions } }

    /// Returns the function that decides in place of a hook, or `nil`.
    func function(
        for hook: HookName, of tenantId: String, in tx: Transaction, _ params: () throws -> JSONObject
    ) throws -> HookFunction? {
        try functions.withLock({ $0 })?.function(for: hook, tenantId: tenantId, in: tx, params)
    }

    /// Records that the virtual clock has moved. A hook that waits has then exceeded its deadline.
    package func clockMoved(by seconds: Int64) { if seconds >= Self.deadlineSeconds { transports.host.expire() } }

    /// - Throws: `HooksNotOffered` if the host of this process does not answer the hook.
    func requireHost(for hook: HookName) throws {
        guard transports.host.isConnected else { throw HooksNotOffered(hook: hook, reason: Self.noHost) }
        guard transports.host.offered.contains(hook) else {
            throw HooksNotOffered(
                hook: hook,
                reason: "It has not offered this hook since the process started. Call hooks.offer after each start of the process.")
        }
    }

    static let noHost =
        "This process has no host that receives requests over a pipe. Use mintmark serve and call hooks.offer, or set a webhook."

    /// Asks a hook, and waits for its answer.
    ///
    /// - Parameter isCancelled: Whether the caller no longer needs the operation.
    /// - Throws: `HooksNotOffered`, `HookFailed`, `RefusedByHook`, `SealBroken`; `Cancelled`.
    func decide(
        _ question: HookQuestion, _ context: ServiceContext, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> HookDecision {
        let reply: HookReply
        switch question.asked {
        case .function(let function):
            reply = transports.host.whileWaiting { ask(question, function, context, isCancelled: isCancelled) }
        case .hook(let settings) where settings.transport == .pipe:
            try requireHost(for: question.hook)
            reply = transports.host.ask(
                question.hook, .object(question.params), within: Int(Self.deadlineSeconds) * 1_000, isCancelled: isCancelled)
        case .hook(let settings):
            reply = try transports.host.whileWaiting { try ask(question, settings, context, isCancelled: isCancelled) }
        }
        switch reply {
        case .failed(let check, let reason): throw HookFailed(hook: question.hook, check: check, reason: reason)
        case .cancelled: throw Cancelled()
        case .result(let answer): return try HookDecision(answer, of: question.hook)
        }
    }

    /// Posts a question to a function.
    private func ask(
        _ question: HookQuestion, _ function: HookFunction, _ context: ServiceContext, isCancelled: @escaping @Sendable () -> Bool
    ) -> HookReply {
        let url = function.url
        guard let http = transports.http, let functions = functions.withLock({ $0 }) else {
            return .failed(.unreachable, "This process sends no requests to functions.")
        }
        // Functions are called only in testing stores, where they are on this machine.
        var policy = HTTPPolicy(allowsInsecureLoopback: true, allowsPrivateNetwork: true)
        policy.timeoutMilliseconds = Int(Self.deadlineSeconds) * 1_000
        let request = HTTPRequest(
            .POST, url: url, headers: [("Content-Type", "application/json")],
            body: functions.body(for: question.asking(function), at: context.clock.now), policy: policy, isCancelled: isCancelled)
        do throws(HTTPFailure) {
            let response = try http.send(request)
            return functions.reply(status: response.status, response.body, of: question.hook)
        } catch {
            if isCancelled() { return .cancelled }
            guard case .timedOut = error.reason else { return .failed(.unreachable, "The function \(url) is not reachable. \(error)") }
            return .failed(.timeout, "The function \(url) did not answer within \(Self.deadlineSeconds) seconds.")
        }
    }

    /// Posts a question to the webhook of the hook.
    private func ask(
        _ question: HookQuestion, _ settings: Hook, _ context: ServiceContext, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> HookReply {
        guard let http = transports.http, let webhook = settings.webhook else {
            return .failed(.unreachable, "This process sends no requests to webhooks.")
        }
        let secret = try HookSecret.open(webhook.secret ?? "", of: question.hook, question.tenantId, context.vault)
        let endpoint: WebhookEndpoint
        do throws(WebhookEndpoint.Refusal) { endpoint = try webhook.endpoint(secret: secret) } catch {
            return .failed(.unreachable, "\(error)")
        }
        var body = question.params
        body["type"] = .string("hook/\(question.hook.rawValue)")
        do throws(WebhookFailure) {
            let answer = try Webhook(endpoint, http: http, clock: context.clock).ask(
                JSONValue.object(body).bytes, id: WebhookId(random: SystemRandom()), within: Int(Self.deadlineSeconds) * 1_000,
                isCancelled: isCancelled)
            if answer.isEmpty { return .result(.null) }
            guard let result = try? JSONValue(parsing: answer) else {
                return .failed(.invalidAnswer, "The body of the webhook's response is not JSON.")
            }
            return .result(result)
        } catch {
            switch error {
            case .refused: return .failed(.error, "\(error)")
            case .noAnswer(let failure):
                if isCancelled() { return .cancelled }
                guard case .timedOut = failure.reason else { return .failed(.unreachable, "\(error)") }
                return .failed(.timeout, "The webhook did not answer within \(Self.deadlineSeconds) seconds.")
            }
        }
    }
}
