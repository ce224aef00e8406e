import Accounts
import Contract
import JSON
import JSONRPC
import Synchronization

/// Asks the host of the process for the decisions of hooks, over the pipe.
final class PipeHookHost: HookHost {
    /// The requests to the host. A server connects them to its descriptors.
    let requests = HostRequests()
    private let offers = Mutex<Set<HookName>>([])

    var isConnected: Bool { requests.isConnected }
    var offered: Set<HookName> { offers.withLock { $0 } }
    func offer(_ hooks: Set<HookName>) { offers.withLock { $0 = hooks } }
    func expire() { requests.expire() }
    func whileWaiting<R>(_ body: () throws -> R) rethrows -> R { try requests.whileWaiting(body) }

    func ask(
        _ hook: HookName, _ params: JSONValue, within milliseconds: Int, isCancelled: @escaping @Sendable () -> Bool
    ) -> HookReply {
        switch requests.ask("hook/\(hook.rawValue)", params, within: milliseconds, isCancelled: isCancelled) {
        case .result(let answer): .result(answer)
        case .error(let error): .failed(.error, Self.reason(error))
        case .malformed: .failed(.invalidAnswer, "The message of the host is not a JSON-RPC response.")
        case .timedOut: .failed(.timeout, "The host did not answer within \(milliseconds / 1_000) seconds.")
        case .ended: .failed(.ended, "The host closed the pipe, or the process is exiting.")
        case .cancelled: .cancelled
        case .tooMany: .failed(.tooMany, "\(HostRequests.maximumPending) hooks already wait for the host.")
        }
    }

    /// The message of an error is for developers, so it is shortened and ends with a full stop.
    private static func reason(_ error: JSONValue) -> String {
        guard let message = error["message"]?.string, !message.isEmpty else { return "The host returned an error without a message." }
        return "The host returned the error \"\(String(message.unicodeScalars.prefix(300)))\"."
    }
}
