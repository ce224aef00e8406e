import Crypto
import Loopback
import Platform
import Synchronization

/// Receives authorization responses on 127.0.0.1 (RFC 8252 §7.3 and §8.3). Each flow has its own server, which stops at the first response
/// that belongs to the flow. Other requests change nothing.
public final class CallbackListener: Sendable {
    /// The response that a server waits for.
    struct Question: Sendable {
        /// The ID of the flow.
        let id: String
        let path: String
        let state: String
        /// The display name of the provider.
        let providerName: String
    }

    /// The result of storing an authorization response.
    enum CallbackDisposition { case kept, tooLate }

    private struct CallbackWaiter {
        let server: LoopbackServer
        var waiting: [@Sendable () -> Void] = []
        /// Whether the flow has expired. Responses then receive a page that explains it.
        var isTooLate = false
    }

    /// The time for which an expired flow still serves a page, in seconds.
    static let lateSeconds: Int64 = 300

    private struct State {
        var ears: [String: CallbackWaiter] = [:]
        /// The servers that may still be writing their last page.
        var closing: [LoopbackServer] = []
        /// The number of changes of the virtual clock.
        var turns = 0
    }

    private let state = Mutex(State())
    private let alarms: TimerThread

    init(alarms: TimerThread) { self.alarms = alarms }

    /// Starts a server that listens until the flow expires.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for any free port.
    ///   - keep: Stores the URL of the authorization response and returns whether the flow is still valid.
    /// - Returns: The port.
    /// - Throws: `LoopbackFailure`.
    func listen(_ question: Question, port: UInt16, keep: @escaping @Sendable (String) throws -> CallbackDisposition) throws -> UInt16 {
        var limits = LoopbackLimits()
        (limits.headBytes, limits.bodyBytes, limits.connections, limits.idleSeconds) = (32 * 1024, 16 * 1024, 64, 10)
        let server = try LoopbackServer(port: port, limits: limits) { [weak self] request in
            let verdict = CallbackRequest.judge(request, question)
            guard case .heard(let query, let page) = verdict else { return verdict.page.response }
            let fate: CallbackDisposition
            do { fate = try keep("http://127.0.0.1\(question.path)?\(query)") } catch { return CallbackPage.notYet.response }
            self?.close(question.id)
            return (fate == .kept ? page : .tooLate).response
        }
        state.withLock { $0.ears[question.id] = CallbackWaiter(server: server) }
        alarms.after(nanoseconds: UInt64(IdpFlow.lifetimeSeconds) * 1_000_000_000) { [weak self] in self?.giveUp(question.id) }
        alarms.after(nanoseconds: UInt64(IdpFlow.lifetimeSeconds + Self.lateSeconds) * 1_000_000_000) { [weak self] in
            self?.close(question.id)
        }
        return server.port
    }

    func isListening(_ id: String) -> Bool { state.withLock { $0.ears[id]?.isTooLate == false } }

    /// The number of changes of the virtual clock. Read it before reading the time.
    var turns: Int { state.withLock { $0.turns } }

    /// Wakes all waiting calls after a change of the virtual clock, so that they check the expiry of their flow again.
    package func turn() {
        let waiting = state.withLock { state in
            state.turns += 1
            return state.ears.keys.flatMap { id in
                defer { state.ears[id]?.waiting = [] }
                return state.ears[id]?.waiting ?? []
            }
        }
        for body in waiting { body() }
    }

    /// Runs `body` when the server of the flow stops listening, or when the virtual clock changes after `turns`.
    func whenOver(_ id: String, since turns: Int, _ body: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard state.turns == turns, state.ears[id]?.isTooLate == false else { return false }
            state.ears[id]?.waiting.append(body)
            return true
        }
        if !waits { body() }
    }

    /// Marks the flow as expired and wakes its waiting calls. The server keeps running to serve the page for late responses.
    private func giveUp(_ id: String) {
        let waiting = state.withLock { state in
            defer {
                state.ears[id]?.isTooLate = true
                state.ears[id]?.waiting = []
            }
            return state.ears[id]?.waiting ?? []
        }
        for body in waiting { body() }
    }

    /// Closes the server of the flow.
    func close(_ id: String) {
        let ear = state.withLock { state -> CallbackWaiter? in
            guard let ear = state.ears.removeValue(forKey: id) else { return nil }
            state.closing = state.closing.suffix(15) + [ear.server]
            return ear
        }
        guard let ear else { return }
        ear.server.close()
        for body in ear.waiting { body() }
    }

    /// Closes all servers, and returns when their last pages have been written.
    public func stop() {
        for id in state.withLock({ Array($0.ears.keys) }) { close(id) }
        for server in state.withLock({ $0.closing }) { server.stop() }
    }
}

/// The classification of a request to the loopback address.
enum CallbackRequest {
    /// A request that belongs to the flow, with its parameters and the page for the user.
    case heard(String, CallbackPage)
    case refused(CallbackPage)

    var page: CallbackPage {
        switch self {
        case .heard(_, let page), .refused(let page): page
        }
    }

    static func judge(_ request: LoopbackRequest, _ question: CallbackListener.Question) -> CallbackRequest {
        let path = request.target.prefix { $0 != "?" }
        guard path.utf8.elementsEqual(question.path.utf8) else {
            return .refused(CallbackPage(status: 404, title: "Not found", text: "There is no page at this address."))
        }
        let query: String
        switch request.method {
        case "GET": query = String(request.target.dropFirst(path.count + 1))
        case "POST":
            guard request.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true,
                let body = String(validating: request.body, as: UTF8.self)
            else { return .refused(.stranger) }
            query = body
        default: return .refused(CallbackPage(status: 405, title: "Method not allowed", text: "This page accepts only GET and POST."))
        }
        guard let pairs = Form.decode(query) else { return .refused(.stranger) }
        let states = pairs.filter { $0.name == "state" }.map(\.value)
        guard states.count == 1, constantTimeEquals(Array(states[0].utf8), Array(question.state.utf8)) else { return .refused(.stranger) }
        // Escaping `#` prevents a request from adding a fragment to the URL.
        let safe = query.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "%23")
        if let error = pairs.first(where: { $0.name == "error" })?.value {
            let description = pairs.first { $0.name == "error_description" }?.value
            return .heard(safe, .refused(by: question.providerName, error, description))
        }
        return .heard(safe, .done)
    }
}
