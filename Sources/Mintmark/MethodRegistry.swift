import Contract
import JSON
import JSONRPC
import Platform
import Storage

/// The methods that a process offers: the contract's methods, each bound to its handler and its lane.
public struct MethodRegistry: MethodLookup {
    private let methods: MethodsByName
    private let configuration: Configuration

    /// - Parameters:
    ///   - mintmark: The service. Its configuration contains the access level of the caller and the testing mode.
    ///   - actor: The actor of the calls in the audit log, or `nil` for the pipe.
    public init(_ mintmark: Mintmark, actor: String? = nil) {
        configuration = mintmark.configuration
        // Every start of the program waits for this loop: it neither copies the table nor searches it.
        var known: [Method] = []
        known.reserveCapacity(Contract.MethodTable.all.count)
        // Methods that the caller is not allowed to call are included, so that they fail with a specific error.
        for place in Contract.MethodTable.all.indices where !Contract.MethodTable.all[place].isTesting || configuration.testing {
            known.append(Self.method(at: place, mintmark, actor))
        }
        methods = MethodsByName(known)
    }

    /// Returns whether a process with this configuration offers a method.
    static func isOffered(_ method: MethodInfo, by configuration: Configuration) -> Bool {
        (!method.isTesting || configuration.testing) && (!configuration.publicCaller || method.caller == .public)
    }

    public func method(named name: String) -> Method? { methods.method(named: name) }

    public func nearest(to name: String) -> [String] {
        let offered = Contract.MethodTable.all.filter { Self.isOffered($0, by: configuration) }
        let called = MethodInfo.called(name, among: offered).map(\.name)
        return called + NearestNames.of(name, among: offered.map(\.name)).filter { !called.contains($0) }
    }

    /// Calling a testing method without `--testing` is a common mistake.
    public func notFound(_ name: String) -> JSONRPC.MethodNotFound {
        let isForTests = !configuration.testing && Contract.MethodTable.all.contains { $0.isTesting && $0.name == name }
        guard isForTests else { return JSONRPC.MethodNotFound(name, nearest: nearest(to: name)) }
        return JSONRPC.MethodNotFound(name, nearest: [], testingOption: "--testing")
    }

    private static func method(at place: Int, _ mintmark: Mintmark, _ actor: String?) -> Method {
        let info = Contract.MethodTable.all[place]
        guard isOffered(info, by: mintmark.configuration) else {
            return Method(info.name) { _, _, _ in throw Answer(CallerNotAllowed(method: info.name)) }
        }
        let origin = CallAdapter.Origin(isPublicCaller: mintmark.configuration.publicCaller, actor: actor)
        let isRemote = mintmark.configuration.store.isRemote
        if let handler = StoreIndependentMethods.method(info.name, mintmark) {
            return Method(info.name, on: Lane(info.cost), run: MethodBody(.storeIndependent(.whole(handler)), mintmark, origin).run)
        }
        return Method(
            info.name, lane: { Lane(info.cost(of: $0), isRemote: isRemote) }, run: MethodBody(.bound(place: place), mintmark, origin).run)
    }
}

/// Runs one method of the contract for calls: applies injected faults, opens the store if necessary, calls the handler, and translates its
/// errors. It uses no closures, so that few frames lie between the server and the handler.
final class MethodBody: Sendable {
    enum Handler {
        case storeIndependent(BoundMethod.Run)
        /// The bound method at this index of the table.
        case bound(place: Int)
    }

    private let handler: Handler
    private let mintmark: Mintmark
    private let origin: CallAdapter.Origin

    init(_ handler: Handler, _ mintmark: Mintmark, _ origin: CallAdapter.Origin) {
        self.handler = handler
        self.mintmark = mintmark
        self.origin = origin
    }

    func run(_ call: Call, _ params: JSONNode?, _ result: inout JSONWriter) throws {
        try mintmark.faults?.meet(call)
        try handle(call, params, &result)
    }

    /// Enters the handler, once for each call.
    private func handle(_ call: Call, _ params: JSONNode?, _ result: inout JSONWriter) throws {
        do {
            let run: BoundMethod.Run?
            let adapter: CallAdapter
            switch handler {
            case .storeIndependent(let independent): (run, adapter) = (independent, CallAdapter(call, origin))
            case .bound(let place):
                // Opening the store may take long, so the reading thread does not open it.
                let mayWait = call.lane != .compute
                guard let services = try mintmark.opened ?? (mayWait ? mintmark.services() : nil) else {
                    return call.proceed(on: .store) { call, _, result in try self.handle(call, params, &result) }
                }
                let access = StoreAccess(mayWait ? .allowed : .refused, view: (call.shared as? SharedReads)?.view)
                (run, adapter) = (services.bound[place]?.run, CallAdapter(call, origin, storeAccess: access))
            }
            call.enterHandler()
            switch run {
            case .whole(let run)?: try run(params, adapter, &result)
            case .phases(let run)?:
                if let rest = try run(params, adapter, &result) { try suspend(call, for: rest, &result) }
            case nil: break
            }
        } catch { throw answer(to: error) }
    }

    /// Runs the rest of a handler, after its wait.
    private func resume(_ call: Call, _ suspension: Suspension, _ result: inout JSONWriter) throws {
        var access = StoreAccess.patient
        if case .write = suspension.wait {
            access = StoreAccess(.allowedToWrite)
        } else if call.lane == .compute {
            access = StoreAccess(.refused)
        }
        do {
            let rest = try suspension.rest(CallAdapter(call, origin, storeAccess: access), &result)
            if let rest { try suspend(call, for: rest, &result) }
        } catch { throw answer(to: error) }
    }

    /// Ends this run of a call, whose handler has to wait. The rest of the handler runs after the wait.
    private func suspend(_ call: Call, for suspension: Suspension, _ result: inout JSONWriter) throws {
        switch suspension.wait {
        case .store where call.lane == .compute, .write where call.lane == .compute: proceed(call, on: .store, suspension)
        case .network where call.lane != .network: proceed(call, on: .network, suspension)
        case .store, .write, .network: try resume(call, suspension, &result)
        case .event(let event): try wait(for: event, call, suspension, &result)
        }
    }

    private func proceed(_ call: Call, on lane: Lane, _ suspension: Suspension) {
        call.proceed(on: lane) { call, _, result in try self.resume(call, suspension, &result) }
    }

    private func wait(for event: AwaitedEvent, _ call: Call, _ suspension: Suspension, _ result: inout JSONWriter) throws {
        let later: DeferredResponse
        do { later = try call.answerLater(endsWithInput: !event.isBrief, onCancel: event.giveUp) } catch {
            if call.mayAnswerLater, !event.isBrief { throw error }
            // Calls cannot wait without a thread here, or too many of them do. This one blocks a thread.
            guard call.lane != .compute else {
                return call.proceed(on: .store) { call, _, result in try self.suspend(call, for: suspension, &result) }
            }
            try call.waitHere(endsWithInput: !event.isBrief) { try event.pass(CallAdapter(call, origin)) }
            return try resume(call, suspension, &result)
        }
        event.whenOver {
            later.resume(on: call.lane) { call, result in try self.resume(call, suspension, &result) }
        }
    }

    private func answer(to error: any Error) -> any Error { contractError(error).map { Answer($0) } ?? error }
}

extension Lane {
    /// Returns the lane on which a call of this cost starts. The rest of a quick call that has to wait runs on another lane.
    ///
    /// - Parameter isRemote: Whether the store is on a database server, so that every access waits.
    init(_ cost: MethodCost, isRemote: Bool = false) {
        self =
            switch cost {
            case .quick: isRemote ? .store : .compute
            case .store: .store
            case .slow: .hash
            case .network: .network
            }
    }
}

/// Wraps a contract error as a response error.
struct Answer: ResponseError {
    let error: any ContractError
    init(_ error: any ContractError) { self.error = error }
    var code: Int { error.code }
    var type: String { Swift.type(of: error).type }
    var message: String { error.message }
    func writeData(to writer: inout JSONWriter) { error.writeData(to: &writer) }
}
