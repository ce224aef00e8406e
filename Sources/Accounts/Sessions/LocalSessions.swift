import Contract
import Crypto
import JSON
import ServiceContext

/// The local session of a user of this machine, used by `mintmark login`, `token` and `logout`.
///
/// The session is stored encrypted in the store itself, without any additional file. Each refresh stores the next refresh token in the
/// transaction that uses the current one. Therefore no refresh token is lost, returned twice or readable by others, even if processes crash
/// or run concurrently. If the session is revoked or its account is deleted, the stored session is deleted as well.
public struct LocalSessions: Sendable {
    /// The tokens for an application.
    public struct Tokens: Sendable, Equatable {
        public let idToken: String
        public let accessToken: String

        public init(idToken: String, accessToken: String) {
            self.idToken = idToken
            self.accessToken = accessToken
        }
    }

    private let session: SessionService
    private var context: AccountsContext { session.context }

    public init(_ session: SessionService) { self.session = session }

    /// Stores a new session. Ends the session that was stored before.
    ///
    /// - Parameter name: The name of the user among those who share the store.
    /// - Throws: `RefreshTokenInvalid`.
    public func keep(_ tokens: Tokens, refreshToken: String, as name: String, _ call: any CallContext) throws {
        let now = context.clock.now
        let mac = session.completion.mac(ofRefreshToken: refreshToken)
        let (sealedToken, sealedTokens) = (seal(refreshToken, name), seal(tokens, name))
        try context.database.write { tx in
            try tx.lock([Self.lockName(name)])
            guard let token = try tx.refreshToken(mac) else { throw RefreshTokenInvalid() }
            if let earlier = try tx.ownSession(name), earlier.sessionId != token.sessionId {
                _ = try session.end(earlier.sessionId, SessionSignOut.info.name, call, at: now, in: tx)
            }
            try tx.keep(OwnSessionRecord(name: name, sessionId: token.sessionId, refreshToken: sealedToken, tokens: sealedTokens))
        }
    }

    /// Returns the tokens of the stored session. Refreshes them if their remaining lifetime is below `seconds`.
    ///
    /// - Returns: `nil` if no session is stored.
    /// - Throws: `RefreshTokenExpired`, `SessionExpired`, `RefreshTokenReused`, which all delete the stored session; `AccountDisabled`,
    ///   and the errors of `session.refresh`.
    public func tokens(_ name: String, goodFor seconds: Int64, _ call: any CallContext) throws -> Tokens? {
        while true {
            let now = context.clock.now
            guard let kept = try context.database.read({ try $0.ownSession(name) }) else { return nil }
            if let tokens = try tokens(kept.tokens, name), isGood(tokens, for: seconds, at: now) { return tokens }
            if let tokens = try refresh(kept, call, at: now) { return tokens }
        }
    }

    /// Ends the stored session. Returns `false` if there is none.
    public func end(_ name: String, _ call: any CallContext) throws -> Bool {
        let now = context.clock.now
        return try context.database.write { tx in
            try tx.lock([Self.lockName(name)])
            guard let kept = try tx.ownSession(name) else { return false }
            return try session.end(kept.sessionId, SessionSignOut.info.name, call, at: now, in: tx)
        }
    }

    /// - Returns: `nil` if another process refreshed the session first.
    private func refresh(_ kept: OwnSessionRecord, _ call: any CallContext, at now: Int64) throws -> Tokens? {
        let (name, fresh) = (kept.name, session.completion.fresh())
        let request = SessionRefresh.Params(refreshToken: try refreshToken(kept.refreshToken, name))
        let sealed = seal(fresh.refreshToken, name)
        let attempt = SessionService.RefreshCall(method: SessionRefresh.info.name, call: call, now: now, secrets: fresh)
        let outcome: Result<(SignInCompletion.SignedIn, TenantRecord), RefreshTokenReused>?
        do {
            outcome = try context.database.write { tx in
                try tx.lock([Self.lockName(name)])
                guard let current = try tx.ownSession(name), current.tokens == kept.tokens, current.refreshToken == kept.refreshToken else {
                    return nil
                }
                let outcome = try session.rotate(request, by: attempt, in: tx)
                if case .success = outcome {
                    try tx.keep(OwnSessionRecord(name: name, sessionId: kept.sessionId, refreshToken: sealed, tokens: kept.tokens))
                }
                return outcome
            }
        } catch  where error is RefreshTokenExpired || error is SessionExpired {
            _ = try context.database.write { try $0.forgetOwnSession(name) }
            throw error
        }
        guard let (signedIn, tenant) = try outcome?.get() else { return nil }
        let signed = try session.completion.tokens(signedIn, tenant, at: now)
        let tokens = Tokens(idToken: signed.idToken, accessToken: signed.accessToken)
        let sealedTokens = seal(tokens, name)
        try context.database.write { try $0.keepTokens(sealedTokens, besides: sealed, of: name) }
        return tokens
    }

    /// Returns whether both tokens are valid for at least `seconds` more.
    private func isGood(_ tokens: Tokens, for seconds: Int64, at now: Int64) -> Bool {
        let verifier = TenantTokenVerifier(context: context, configurations: session.configurations)
        return [(tokens.idToken, TokenUse.id), (tokens.accessToken, .access)].allSatisfy { token, use in
            (try? verifier.verify(token, .init(use: use), now: now)).map { $0.expiresAt - now >= seconds } ?? false
        }
    }
}

// MARK: Encryption

extension LocalSessions {
    private static func lockName(_ name: String) -> String { "own session/\(name)" }

    private func seal(_ refreshToken: String, _ name: String) -> [UInt8] {
        context.vault.seal(SecretBytes(Array(refreshToken.utf8)), as: "own refresh token \(name)")
    }

    /// - Throws: `SealBroken`.
    private func refreshToken(_ sealed: [UInt8], _ name: String) throws -> String {
        String(decoding: try context.vault.open(sealed, as: "own refresh token \(name)").copy(), as: UTF8.self)
    }

    private func seal(_ tokens: Tokens, _ name: String) -> [UInt8] {
        let texts = JSONValue.array([.string(tokens.idToken), .string(tokens.accessToken)])
        return context.vault.seal(SecretBytes(texts.bytes), as: "own tokens \(name)")
    }

    /// - Throws: `SealBroken`.
    private func tokens(_ sealed: [UInt8], _ name: String) throws -> Tokens? {
        let bytes = try context.vault.open(sealed, as: "own tokens \(name)").copy()
        guard let texts = try? JSONValue(parsing: bytes).array?.compactMap(\.string), texts.count == 2 else { return nil }
        return Tokens(idToken: texts[0], accessToken: texts[1])
    }
}
