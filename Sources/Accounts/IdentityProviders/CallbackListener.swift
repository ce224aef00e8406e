import Crypto
import Loopback
import Platform
import Synchronization

/// Takes people back from their provider on 127.0.0.1 (RFC 8252 7.3 and 8.3): one server for each flow, which ends with the first
/// answer that belongs to it. Anything else changes nothing.
public final class CallbackListener: Sendable {
    /// What is waited for.
    struct Question: Sendable {
        /// The flow.
        let id: String
        let path: String
        let state: String
        /// As people know it.
        let providerName: String
    }

    /// What becomes of what a person came back with.
    enum Fate { case kept, tooLate }

    private struct Ear {
        let server: LoopbackServer
        var waiting: [@Sendable () -> Void] = []
        /// Whether the flow is too old, and whoever comes is told so.
        var isTooLate = false
    }

    /// How long people who come too late find a page, in seconds.
    static let lateSeconds: Int64 = 300

    private struct State {
        var ears: [String: Ear] = [:]
        /// Those that may be writing their last page.
        var closing: [LoopbackServer] = []
        /// How often the time was turned.
        var turns = 0
    }

    private let state = Mutex(State())
    private let alarms: Alarms

    init(alarms: Alarms) { self.alarms = alarms }

    /// Listens, for as long as the flow can be gone on with.
    ///
    /// - Parameters:
    ///   - port: 0 for any.
    ///   - keep: is given the URL that the person came back to, and says whether the flow can still be gone on with.
    /// - Returns: the port.
    /// - Throws: `LoopbackFailure`.
    func listen(_ question: Question, port: UInt16, keep: @escaping @Sendable (String) throws -> Fate) throws -> UInt16 {
        var limits = LoopbackLimits()
        (limits.headBytes, limits.bodyBytes, limits.connections, limits.idleSeconds) = (32 * 1024, 16 * 1024, 64, 10)
        let server = try LoopbackServer(port: port, limits: limits) { [weak self] request in
            let verdict = CallbackRequest.judge(request, question)
            guard case .heard(let query, let page) = verdict else { return verdict.page.response }
            let fate: Fate
            do { fate = try keep("http://127.0.0.1\(question.path)?\(query)") } catch { return CallbackPage.notYet.response }
            self?.close(question.id)
            return (fate == .kept ? page : .tooLate).response
        }
        state.withLock { $0.ears[question.id] = Ear(server: server) }
        alarms.after(nanoseconds: UInt64(IdpFlow.lifetimeSeconds) * 1_000_000_000) { [weak self] in self?.giveUp(question.id) }
        alarms.after(nanoseconds: UInt64(IdpFlow.lifetimeSeconds + Self.lateSeconds) * 1_000_000_000) { [weak self] in
            self?.close(question.id)
        }
        return server.port
    }

    func isListening(_ id: String) -> Bool { state.withLock { $0.ears[id]?.isTooLate == false } }

    /// How often the time was turned: to be asked for before the time is.
    var turns: Int { state.withLock { $0.turns } }

    /// The time was turned: whoever waits looks again whether that is still of use.
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

    /// Runs `body` when nobody listens for the flow any more, or the time was turned after `turns`.
    func whenOver(_ id: String, since turns: Int, _ body: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard state.turns == turns, state.ears[id]?.isTooLate == false else { return false }
            state.ears[id]?.waiting.append(body)
            return true
        }
        if !waits { body() }
    }

    /// The flow is too old: nobody waits any more, but whoever comes back still finds a page.
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

    /// Listens no more.
    func close(_ id: String) {
        let ear = state.withLock { state -> Ear? in
            guard let ear = state.ears.removeValue(forKey: id) else { return nil }
            state.closing = state.closing.suffix(15) + [ear.server]
            return ear
        }
        guard let ear else { return }
        ear.server.close()
        for body in ear.waiting { body() }
    }

    /// Listens for nothing any more, and returns when the last pages are written.
    public func stop() {
        for id in state.withLock({ Array($0.ears.keys) }) { close(id) }
        for server in state.withLock({ $0.closing }) { server.stop() }
    }
}

/// What a request to the loopback address means.
enum CallbackRequest {
    /// It belongs to the flow: the parameters, and what the person sees.
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
        // Nobody can put anything behind it that would be read as a fragment.
        let safe = query.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "%23")
        if let error = pairs.first(where: { $0.name == "error" })?.value {
            let description = pairs.first { $0.name == "error_description" }?.value
            return .heard(safe, .refused(by: question.providerName, error, description))
        }
        return .heard(safe, .done)
    }
}
