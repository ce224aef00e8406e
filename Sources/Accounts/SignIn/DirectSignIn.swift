import Contract
import JSON
import ServiceContext
import Storage

/// A session that an API of another product has started, with its refresh token.
package struct StartedSession: Sendable {
    package let sessionId: String
    package let accountId: String
    package let refreshToken: String
}

/// The outcome of a sign-in with a password.
package enum PasswordOutcome: Sendable {
    case signedIn(StartedSession)
    /// A second factor must be verified. The token continues the flow.
    case pending(continuationToken: String)
}

extension SignInService {
    /// Starts a session without verifying the user: another product's API has done so.
    ///
    /// - Parameter hookDetails: Details of the sign-in for functions that replace hooks; `nil` if no hook decides about the session.
    /// - Throws: `AccountNotFound`, `AccountDisabled`, `TenantNotFound`, `RefusedByHook`, `HookFailed`, `HooksNotOffered`.
    package func startSession(
        of accountId: String, as proof: SignInProof, by method: String, hookDetails: JSONObject? = [:], _ call: any CallContext
    ) throws -> StartedSession {
        let attempt = completion.signInCall(
            of: method, call, at: context.clock.now, asksHooks: hookDetails != nil, details: hookDetails ?? [:])
        let signedIn = try attempt.gate.write { tx in
            try tx.lock([accountId])
            guard let account = try tx.account(accountId) else { throw AccountNotFound() }
            let tenant = try configurations.tenant(account.tenantId, in: tx)
            return try completion.begin(account, of: tenant, with: PendingSignIn(proof, audience: nil), by: attempt, in: tx)
        }
        return StartedSession(sessionId: signedIn.session.id, accountId: accountId, refreshToken: attempt.secrets.refreshToken)
    }

    /// Signs in with address and password, with the rules of `signIn.withPassword`.
    ///
    /// - Throws: The errors of `signIn.withPassword`.
    package func start(_ request: SignInWithPassword.Params, _ call: any CallContext) throws -> PasswordOutcome {
        switch try withPassword(request, call) {
        case .completed(let signedIn):
            let session = try context.database.read { try $0.refreshToken(completion.mac(ofRefreshToken: signedIn.refreshToken)) }
            return .signedIn(
                StartedSession(
                    sessionId: session?.sessionId ?? "", accountId: signedIn.account.accountId, refreshToken: signedIn.refreshToken))
        case .codeRequired(let step): return .pending(continuationToken: step.continuationToken)
        case .passkeyRequired(let step): return .pending(continuationToken: step.continuationToken)
        case .passwordRequired(let step): return .pending(continuationToken: step.continuationToken)
        case .secondFactorRequired(let step): return .pending(continuationToken: step.continuationToken)
        case .secondFactorEnrollmentRequired(let step): return .pending(continuationToken: step.continuationToken)
        case .tokensDeferred(let step): return .pending(continuationToken: step.continuationToken)
        // Callers of this function accept every part of a flow.
        case .providerRequired, .redirectRequired: return .pending(continuationToken: "")
        }
    }

    /// Returns the session of a refresh token, which stays valid, or `nil`.
    ///
    /// - Throws: `RefreshTokenExpired`, also after the absolute lifetime of the session; `TenantDisabled`.
    package func session(ofRefreshToken token: String) throws -> SessionRecord? {
        let now = context.clock.now
        return try context.database.read { tx in
            guard let known = try tx.refreshToken(completion.mac(ofRefreshToken: token)) else { return nil }
            if known.expiresAt <= now { throw RefreshTokenExpired(expiredAt: known.expiresAt) }
            guard let session = try tx.session(known.sessionId), let account = try tx.account(session.accountId) else { return nil }
            let tenant = try configurations.enabledTenant(account.tenantId, in: tx)
            if let end = tenant.tokens.end(ofSessionFrom: session.authenticatedAt), end <= now {
                throw RefreshTokenExpired(expiredAt: end)
            }
            return session
        }
    }
}

/// Everything about an account that an API of another product shows.
package struct AccountFacts: Sendable {
    package let account: AccountRecord
    package let logins: [AccountLogin]
    package let factors: [FactorRecord]
    package let phoneNumber: String?

    package init(_ account: AccountRecord, in tx: Transaction) throws {
        self.account = account
        logins = try tx.accountLogins(of: account.id)
        factors = try tx.factors(of: account.id)
        phoneNumber = try tx.phoneNumber(of: account.id)
    }
}
