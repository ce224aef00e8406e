import Contract
import JSON
import JSONRPC
import Storage

/// The context of a call for its handler.
struct CallAdapter: CallContext {
    /// The methods that the caller may call, and the name of the caller in the audit log.
    struct Origin: Sendable {
        let isPublicCaller: Bool
        let actor: String?
    }

    private let call: Call
    private let origin: Origin
    var isPublicCaller: Bool { origin.isPublicCaller }
    var actor: String? { origin.actor }
    let storeAccess: StoreAccess

    /// Whether the call is on a lane that may wait for other machines.
    var mayWaitForOthers: Bool { call.lane == .network }
    /// Whether the call can wait for an event without blocking a thread until then.
    var mayAnswerLater: Bool { call.mayAnswerLater }

    init(_ call: Call, _ origin: Origin, storeAccess: StoreAccess = .patient) {
        self.call = call
        self.origin = origin
        self.storeAccess = storeAccess
    }

    var trace: String? { call.trace }
    var isCancelled: Bool { call.isCancelled }
    func progress(_ value: JSONValue) { call.progress(value) }
    func blocking<R>(_ body: () throws -> R) rethrows -> R { try call.blocking(body) }
    func notify<N: ContractNotification>(_: N.Type, _ params: N.Params) { call.notify(N.name) { params.write(to: &$0) } }
}
