import Contract
import Messages
import Storage

extension Flows {
    /// Starts a flow whose first step is a code.
    ///
    /// - Parameter draft: Returns the new flow. Called again in the transaction that stores it.
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, and the errors of `draft`.
    func begin(
        _ purpose: MessagePurpose, _ tenant: TenantRecord, _ address: String, _ sending: CodeSending, request: [UInt8],
        client: ClientKey? = nil, at now: Int64, draft: (Transaction) throws -> Flow
    ) throws -> Flow {
        try sending.send(
            for: tenant, purpose, locking: [Self.lockName(address: address)], client: client, at: now,
            draft: { tx in
                if let earlier = try tx.flow(begunBy: request, at: now) { return .repeated(earlier) }
                return .send(try draft(tx), isNew: true)
            }, commit: { _, _ in })
    }

    /// Sends a new code for a flow that waits for one. If sending fails, the flow does not change.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `SendUnderway`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`; `SignUpNotAllowed`.
    func resend(
        _ token: String, from origin: ClientOrigin?, _ kinds: [Flow.Kind], _ purpose: MessagePurpose, method: String,
        sending: CodeSending
    ) throws -> Found {
        let step = try step(of: kinds, token: token, by: method, with: [], from: origin)
        let now = step.now
        let found = try step.peek()
        let flow = try sending.send(
            for: found.tenant, purpose, locking: [Self.lockName(address: found.flow.address)], client: step.client, at: now,
            draft: { tx in
                switch try step.find(in: tx) {
                case .repeated(let flow, _): return .repeated(flow)
                case .current(var flow, let tenant):
                    if flow.kind == .signUp, !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
                    if flow.kind == .signIn, flow.stage == .passwordRequired, tenant.settings.enumerationProtection {
                        flow.stage = .codeRequired
                    }
                    try flow.require(.codeRequired)
                    return .send(flow, isNew: false)
                }
            }, commit: { _, flow in flow.move(by: step.request, at: now) })
        return .current(flow, found.tenant)
    }
}
