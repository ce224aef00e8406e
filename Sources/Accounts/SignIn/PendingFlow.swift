import Contract
import JSON
import SigningKeys
import Storage

/// The facts about a pending flow that an API of another product needs before it calls a method. Reading changes nothing.
package struct PendingFlow: Sendable {
    package enum Kind: Sendable { case signUp, signIn, passwordReset, other }

    /// The step for which the flow waits.
    package enum Step: Sendable {
        /// A code, which was sent or not.
        case code(isSent: Bool)
        case password
        case attributes
        /// The sign-up, reset or second factor is complete.
        case completed
        case secondFactor([FactorHint])
        case enrollment([EnrollableFactor])
        /// The code of the factor that is being enrolled.
        case enrollmentCode
    }

    package let kind: Kind
    package let step: Step
    package let tenant: TenantRecord
    /// The client ID of the application that started the flow: the tenant's ID for the default application.
    package let clientId: String
    /// The address of the flow, as the user entered it.
    package let username: String
    package let accountId: String
    /// The parts of the flow that the application can carry out; `nil` for all.
    package let accepts: [FlowCapability]?
    /// Whether the token belongs to the previous step, so that a method accepts only the request that led to the current step.
    package let isSuperseded: Bool
    /// Whether a second factor was verified or registered in the flow, and only the tokens are missing.
    package let awaitsTokens: Bool
}

extension SignInService {
    /// Returns the flow of a continuation token.
    ///
    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`; `FlowFinished`, `FlowEnded` and the other errors of flows that
    ///   ended.
    package func pendingFlow(ofToken token: String) throws -> PendingFlow {
        let now = context.clock.now
        let (flow, tenant, step, awaitsTokens) = try context.database.read { tx in
            let (id, step) = try ContinuationTokens(context).read(token, in: tx)
            guard let flow = try tx.flow(id) else { throw ContinuationTokenExpired() }
            try flow.requireGoing()
            guard let tenant = try configurations.knownTenant(flow.tenantId, in: tx) else { throw FlowEnded(.tenantDeleted) }
            if tenant.application(named: flow.application.name) == nil { throw FlowEnded(.applicationDeleted) }
            if now >= flow.expiresAt { throw ContinuationTokenExpired(expiredAt: flow.expiresAt) }
            let first = flow.application.attributesSince ?? flow.step - 1
            guard step >= first, step <= flow.step else { throw ContinuationTokenInvalid() }
            return (flow, tenant, step, try deferredSignIn(of: flow, in: tx) != nil)
        }
        let kind: PendingFlow.Kind =
            switch flow.kind {
            case .signUp: .signUp
            case .signIn: .signIn
            case .passwordReset: .passwordReset
            case .emailChange, .emailVerification, .secondFactor, .factorEnrollment: .other
            }
        return PendingFlow(
            kind: kind, step: try position(of: flow, tenant), tenant: tenant, clientId: flow.application.name?.clientId ?? tenant.id,
            username: flow.username, accountId: flow.accountId, accepts: flow.application.accepts, isSuperseded: step < flow.step,
            awaitsTokens: awaitsTokens)
    }

    private func position(of flow: Flow, _ tenant: TenantRecord) throws -> PendingFlow.Step {
        switch flow.stage {
        case .codeRequired: return .code(isSent: !flow.awaitsFirstCode)
        case .passwordRequired: return .password
        case .attributesRequired: return .attributes
        // No product whose protocol reads flows registers passkeys in a sign-up.
        case .passkeyRequired: throw StepNotPossible(expected: PasskeyStartRegistration.info.name)
        case .completed: return .completed
        case .enrollmentCode: return .enrollmentCode
        case .secondFactorRequired, .enrollmentRequired:
            var open = flow
            // The reader decides itself what its application can carry out.
            open.application.accepts = nil
            switch try completion.answer(pending: open, tenant) {
            case .secondFactorRequired(let step): return .secondFactor(step.hints)
            case .secondFactorEnrollmentRequired(let step): return .enrollment(step.kinds ?? [])
            default: throw ContinuationTokenInvalid()
            }
        }
    }

    /// Returns the published keys of a tenant (RFC 7517 §5).
    package func publishedKeys(of tenant: TenantRecord) throws -> [JSONObject] {
        let now = context.clock.now
        _ = try completion.signingKey(of: tenant, at: now)
        let ring = try context.database.read { try configurations.signingKeys.ring(of: .tenant(tenant.id), in: $0) }
        return ring.published(at: now).compactMap { key in
            var writer = JSONWriter(reservingCapacity: 256)
            key.publicJwk.write(to: &writer)
            return (try? JSONValue(parsing: writer.bytes))?.object
        }
    }

    /// Returns an account, for the address that a user can enroll.
    package func account(_ id: String) throws -> AccountRecord? { try context.database.read { try $0.account(id) } }

    /// Returns the tenant of an API of another product, or `nil` if it does not exist.
    package func tenant(_ id: String) throws -> TenantRecord? {
        try context.database.read { try configurations.knownTenant(id, in: $0) }
    }
}
