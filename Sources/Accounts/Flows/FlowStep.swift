import Contract
import JSON
import Storage

/// A request that continues a flow with its continuation token.
struct FlowStep {
    /// The outcome of a step.
    enum Outcome {
        case moved
        /// The flow is complete. The response contains tokens and is never repeated.
        case finished
        /// The flow stays in its step, and its counters are stored.
        case refused(any ContractError)
        /// The flow ended with an error.
        case ended(any ContractError)
    }

    fileprivate let flows: Flows
    /// The kinds of flow that the method continues.
    fileprivate let kinds: [Flow.Kind]
    fileprivate let token: String
    /// The HMAC of the request, which identifies its repetition.
    let request: [UInt8]
    /// The name of the method.
    let method: String
    /// The origin of the request, for rate limits.
    let client: ClientKey?
    /// The client ID that the request names.
    var clientId: String?
    let now: Int64

    /// Reads the flow, for slow work that must be done before the write transaction.
    func peek() throws -> Flows.Found { try checked(flows.peek(token, kinds, request: request, at: now)) }

    /// Finds the flow in a transaction.
    func find(in tx: Transaction) throws -> Flows.Found { try checked(flows.find(token, kinds, request: request, at: now, in: tx)) }

    /// - Throws: `ContinuationTokenInvalid` if the request names another application than that of the flow.
    private func checked(_ found: Flows.Found) throws -> Flows.Found {
        try found.flow.application.require(clientId, of: found.tenant)
        return found
    }

    /// Returns the step of a request that names the application.
    func named(_ clientId: String?) -> FlowStep {
        var copy = self
        copy.clientId = clientId
        return copy
    }

    /// Takes the step in a write transaction. A refusal is thrown after the transaction stored its counters.
    ///
    /// - Parameters:
    ///   - gate: Asks the hooks of the step.
    ///   - again: Updates a flow whose last response is repeated, and returns whether it changed.
    ///   - body: Decides the step, and changes the flow.
    func take(
        asking gate: HookGate? = nil,
        again: (Transaction, inout Flow, TenantRecord) throws -> Bool = { _, _, _ in false },
        _ body: (Transaction, inout Flow, TenantRecord) throws -> Outcome
    ) throws -> Flow {
        let address = try peek().flow.address
        let outcome = try (gate ?? HookGate(flows.context)).write { tx -> Result<Flow, any Error> in
            try tx.lock([Flows.lockName(address: address)])
            let found = try find(in: tx)
            guard case .current(var flow, let tenant) = found else {
                var flow = found.flow
                if try again(tx, &flow, found.tenant) { try tx.update(flow) }
                return .success(flow)
            }
            return try apply(try body(tx, &flow, tenant), to: &flow, in: tx)
        }
        return try outcome.get()
    }

    private func apply(_ outcome: Outcome, to flow: inout Flow, in tx: Transaction) throws -> Result<Flow, any Error> {
        switch outcome {
        case .moved:
            flow.move(by: request, at: now)
            try tx.update(flow)
            return .success(flow)
        case .finished:
            flow.move(by: [], at: now)
            flow.stage = .completed
            flow.end(.finished)
            try tx.update(flow)
            return .success(flow)
        case .refused(let error):
            // The caller now has the response to this step, so a repetition of the previous request is no longer a retry.
            flow.request = []
            try tx.update(flow)
            return .failure(error)
        case .ended(let error):
            guard let ending = Flow.ExitStatus(error) else {
                try tx.deleteFlow(flow.id)
                return .failure(error)
            }
            flow.end(ending)
            try tx.update(flow)
            return .failure(error)
        }
    }
}

extension Flows {
    /// Returns the step that a request takes. Counts the request for its origin.
    ///
    /// - Parameter values: The parameters that a repetition of the request repeats, in addition to the token.
    /// - Throws: `TooManyFromClient`.
    func step(
        of kinds: [Flow.Kind], token: String, by method: String, with values: [JSONValue], from origin: ClientOrigin?
    ) throws -> FlowStep {
        let now = context.clock.now
        let client = try admit(origin, token: token, at: now)
        let request = fingerprint(method, [.string(token)] + values)
        return FlowStep(flows: self, kinds: kinds, token: token, request: request, method: method, client: client, now: now)
    }
}
