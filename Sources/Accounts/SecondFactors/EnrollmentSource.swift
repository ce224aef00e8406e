import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// The account for which a factor is enrolled: that of a signed-in user, or of a pending sign-in that requires a second factor.
struct EnrollmentSource: Sendable {
    enum Way: Sendable {
        case session(VerifiedTenantToken, flowId: String, language: String?)
        case signIn(continuationToken: String)
    }

    let way: Way
    let account: AccountRecord
    let tenant: TenantRecord
    /// The key under which the steps of the flow are locked.
    let address: String

    /// Returns the flow with the new draft, or the earlier flow if the request is a repetition.
    func draft(
        _ service: MfaService, _ draft: FactorDraft, _ request: [UInt8], at now: Int64, in tx: Transaction
    ) throws -> CodeSending.Draft {
        switch way {
        case .session(let token, let flowId, let language):
            if let earlier = try tx.flow(begunBy: request, at: now) { return .repeated(earlier) }
            let own = try AuthenticatedAccount(token, in: tx)
            try tx.requireUnlocked(own.account, tenant, at: now)
            let user = EnrollingUser(account: own.account, proof: own.session.proof, isRecent: own.isRecent(at: now))
            try service.permit(draft, for: user, tenant: tenant, in: tx)
            return .send(
                Flow(
                    id: flowId, tenantId: tenant.id, kind: .factorEnrollment, stage: .enrollmentCode,
                    username: account.email ?? account.id, accountId: account.id, language: language, request: request,
                    requestedAt: now),
                isNew: true)
        case .signIn(let token):
            switch try service.flows.find(token, MfaService.signIns, request: request, at: now, in: tx) {
            case .repeated(let flow, _): return .repeated(flow)
            case .current(var flow, _):
                // The user can choose another kind until a factor is enrolled.
                if flow.stage != .enrollmentCode { try flow.require(.enrollmentRequired) }
                guard let account = try tx.account(flow.accountId), let sealed = try tx.factorStep(of: flow.id)?.signIn else {
                    throw ContinuationTokenExpired()
                }
                if account.isDisabled { throw AccountDisabled(accountId: account.id) }
                try tx.requireUnlocked(account, tenant, at: now)
                let proof = try PendingSignIn(sealed, of: flow.id, service.context.vault).proof
                let user = EnrollingUser(account: account, proof: proof, isRecent: true)
                try service.permit(draft, for: user, tenant: tenant, in: tx)
                flow.stage = .enrollmentCode
                return .send(flow, isNew: false)
            }
        }
    }

    /// Stores the encrypted draft and the session or step with the flow.
    func commit(_ draft: [UInt8], to flow: inout Flow, by request: [UInt8], at now: Int64, in tx: Transaction) throws {
        var step = try tx.factorStep(of: flow.id) ?? FactorStep()
        step.draft = draft
        switch way {
        case .session(let token, _, _): step.sessionId = token.sessionId
        case .signIn: flow.move(by: request, at: now)
        }
        try tx.setFactorStep(step, of: flow.id)
    }
}

extension MfaService {
    /// - Throws: the errors of ID token verification; `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    func source(of request: MfaEnroll.Params, _ fingerprint: [UInt8], at now: Int64) throws -> EnrollmentSource {
        switch request.account {
        case .idToken(let idToken):
            let token = try verify(idToken, at: now)
            let (account, tenant) = try context.database.read {
                (try AuthenticatedAccount(token, in: $0).account, try configurations.tenant(token.tenantId, in: $0))
            }
            let flowId = Hex.encode(context.random.bytes(16))
            return EnrollmentSource(
                way: .session(token, flowId: flowId, language: request.language), account: account, tenant: tenant,
                address: "\(tenant.id)/\(Username.fold(account.email ?? account.id))")
        case .continuationToken(let token):
            let found = try flows.peek(token, Self.signIns, request: fingerprint, at: now)
            try found.flow.application.require(request.clientId, of: found.tenant)
            if found.flow.stage != .enrollmentCode { try found.flow.require(.enrollmentRequired) }
            guard let account = try context.database.read({ try $0.account(found.flow.accountId) }) else {
                throw ContinuationTokenExpired()
            }
            return EnrollmentSource(
                way: .signIn(continuationToken: token), account: account, tenant: found.tenant, address: found.flow.address)
        }
    }
}
