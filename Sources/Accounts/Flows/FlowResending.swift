import Contract
import Messages
import Storage

extension Flows {
    /// Starts a flow whose first step is a code.
    ///
    /// - Parameters:
    ///   - request: The fingerprint of the request.
    ///   - draft: Returns the new flow. Called again in the transaction that stores it.
    ///   - stored: Stores what belongs to the flow, in the same transaction.
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, and the errors of `draft`.
    func begin(
        by sending: CodeSending, _ order: CodeSending.Order, request: [UInt8], draft: (Transaction) throws -> Flow,
        stored: (Transaction, Flow) throws -> Void = { _, _ in }
    ) throws -> Flow {
        try sending.send(
            order,
            draft: { tx in
                if let earlier = try tx.flow(begunBy: request, at: order.now) { return .repeated(earlier) }
                return .send(try draft(tx), isNew: true)
            }, commit: { tx, flow in try stored(tx, flow) })
    }

    /// Starts a flow without sending a message.
    ///
    /// - Parameter draft: Returns the new flow.
    func beginQuietly(at address: String, request: [UInt8], at now: Int64, draft: (Transaction) throws -> Flow) throws -> Flow {
        try context.database.write { tx in
            try tx.lock([Self.lockName(address: address)])
            if let earlier = try tx.flow(begunBy: request, at: now) { return earlier }
            let flow = try draft(tx)
            try tx.insert(flow)
            return flow
        }
    }

    /// Sends the code that a flow waits for, or advances a flow that waits for a password.
    ///
    /// - Parameter accepts: The parts that the application can carry out in this call. Defaults to those of the flow.
    /// - Returns: The flow, or the redirection that the step requires. The flow then does not change.
    /// - Throws: The errors of `resend`.
    func challenge(
        _ step: FlowStep, accepts: [FlowCapability]?, _ purpose: MessagePurpose, _ sending: CodeSending
    ) throws -> Challenged {
        let found = try step.peek()
        var application = found.flow.application
        application.accepts = accepts ?? application.accepts
        // A repeated request led to the current step already.
        if let redirection = application.redirection(for: found.flow.needed) { return .redirected(redirection) }
        if found.flow.stage == .passwordRequired {
            let flow = try step.take { _, flow, _ in
                try flow.require(.passwordRequired)
                return .moved
            }
            return .advanced(flow, found.tenant)
        }
        let sent = try resend(step, purpose, sending)
        return .advanced(sent.flow, sent.tenant)
    }

    /// The outcome of a challenge.
    enum Challenged {
        case advanced(Flow, TenantRecord)
        case redirected(Redirection)
    }

    /// Sends a new code for a flow that waits for one. If sending fails, the flow does not change.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `SendUnderway`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`; `SignUpNotAllowed`, `AccountDisabled`, `AccountLocked`.
    func resend(_ step: FlowStep, _ purpose: MessagePurpose, _ sending: CodeSending) throws -> Found {
        let now = step.now
        let found = try step.peek()
        let flow = try sending.send(
            .init(
                purpose: purpose, tenant: found.tenant, locks: [Self.lockName(address: found.flow.address)], client: step.client, now: now),
            draft: { tx in
                switch try step.find(in: tx) {
                case .repeated(let flow, _): return .repeated(flow)
                case .current(var flow, let tenant):
                    if flow.kind == .signUp, !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
                    if flow.kind == .signIn, flow.stage == .passwordRequired, tenant.enumerationProtection {
                        flow.stage = .codeRequired
                    }
                    try flow.require(.codeRequired)
                    if flow.phoneNumber != nil { try tenant.requirePhoneSignIn() }
                    if flow.kind == .signIn || flow.kind == .passwordReset {
                        try tx.requireUsable(try tx.account(flow.accountId), tenant, forSignIn: flow.kind == .signIn, at: now)
                    }
                    return .send(flow, isNew: false)
                }
            }, commit: { _, flow in flow.move(by: step.request, at: now) })
        return .current(flow, found.tenant)
    }
}
