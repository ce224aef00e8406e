import Contract
import Crypto
import JSON
import ServiceContext

/// The session of whoever sits at this machine: what `mintmark login`, `token` and `logout` keep, use and end.
///
/// It is kept in the store itself, sealed like every other secret there, and in no file beside it. The next refresh token is put down
/// in the very transaction that spends the one before: whatever dies at whatever moment, and however many processes ask at once, no
/// refresh token is ever lost, shown twice, or left for others to read. A session that ends in any other way, by a revocation or with
/// its account, takes what is kept along.
public struct OwnSessions: Sendable {
    /// What an application gets.
    public struct Tokens: Sendable, Equatable {
        public let idToken: String
        public let accessToken: String

        public init(idToken: String, accessToken: String) {
            self.idToken = idToken
            self.accessToken = accessToken
        }
    }

    private let session: SessionService
    private var surroundings: AccountsContext { session.surroundings }

    public init(_ session: SessionService) { self.session = session }

    /// Keeps a session that has just begun. One that was kept before is ended.
    ///
    /// - Parameter name: whose it is among those who share the store.
    /// - Throws: `RefreshTokenInvalid`.
    public func keep(_ tokens: Tokens, refreshToken: String, as name: String, _ call: any CallContext) throws {
        let now = surroundings.clock.now
        let mac = session.completion.mac(ofRefreshToken: refreshToken)
        let (sealedToken, sealedTokens) = (seal(refreshToken, name), seal(tokens, name))
        try surroundings.database.write { tx in
            try tx.lock([Self.lockName(name)])
            guard let token = try tx.refreshToken(mac) else { throw RefreshTokenInvalid() }
            if let earlier = try tx.ownSession(name), earlier.sessionId != token.sessionId {
                _ = try session.end(earlier.sessionId, SessionSignOut.info.name, call, at: now, in: tx)
            }
            try tx.keep(OwnSessionRecord(name: name, sessionId: token.sessionId, refreshToken: sealedToken, tokens: sealedTokens))
        }
    }

    /// The tokens of the session that is kept, fresh ones if they are good for less than was asked for.
    ///
    /// - Returns: nil if none is kept.
    /// - Throws: `RefreshTokenExpired`, `RefreshTokenReused`, after which none is kept; `AccountDisabled`; as `session.refresh`.
    public func tokens(_ name: String, goodFor seconds: Int64, _ call: any CallContext) throws -> Tokens? {
        while true {
            let now = surroundings.clock.now
            guard let kept = try surroundings.database.read({ try $0.ownSession(name) }) else { return nil }
            if let tokens = try tokens(kept.tokens, name), isGood(tokens, for: seconds, at: now) { return tokens }
            if let tokens = try refresh(kept, call, at: now) { return tokens }
        }
    }

    /// Ends the session that is kept. Answers false if there is none.
    public func end(_ name: String, _ call: any CallContext) throws -> Bool {
        let now = surroundings.clock.now
        return try surroundings.database.write { tx in
            try tx.lock([Self.lockName(name)])
            guard let kept = try tx.ownSession(name) else { return false }
            return try session.end(kept.sessionId, SessionSignOut.info.name, call, at: now, in: tx)
        }
    }

    /// - Returns: nil if another process was faster.
    private func refresh(_ kept: OwnSessionRecord, _ call: any CallContext, at now: Int64) throws -> Tokens? {
        let (name, fresh) = (kept.name, session.completion.fresh())
        let request = SessionRefresh.Params(refreshToken: try refreshToken(kept.refreshToken, name))
        let sealed = seal(fresh.refreshToken, name)
        let outcome: Result<(SignInCompletion.SignedIn, TenantRecord), RefreshTokenReused>?
        do {
            outcome = try surroundings.database.write { tx in
                try tx.lock([Self.lockName(name)])
                guard let current = try tx.ownSession(name), current.tokens == kept.tokens, current.refreshToken == kept.refreshToken else {
                    return nil
                }
                let outcome = try session.rotate(request, fresh, SessionRefresh.info.name, call, at: now, in: tx)
                if case .success = outcome {
                    try tx.keep(OwnSessionRecord(name: name, sessionId: kept.sessionId, refreshToken: sealed, tokens: kept.tokens))
                }
                return outcome
            }
        } catch let over as RefreshTokenExpired {
            _ = try surroundings.database.write { try $0.forgetOwnSession(name) }
            throw over
        }
        guard let (signedIn, tenant) = try outcome?.get() else { return nil }
        let signed = try session.completion.tokens(signedIn, tenant, at: now)
        let tokens = Tokens(idToken: signed.idToken, accessToken: signed.accessToken)
        let sealedTokens = seal(tokens, name)
        try surroundings.database.write { try $0.keepTokens(sealedTokens, besides: sealed, of: name) }
        return tokens
    }

    /// Whether both are accepted still, and for so many seconds more.
    private func isGood(_ tokens: Tokens, for seconds: Int64, at now: Int64) -> Bool {
        let verifier = TenantTokenVerifier(surroundings: surroundings, catalogue: session.catalogue)
        return [(tokens.idToken, TokenUse.id), (tokens.accessToken, .access)].allSatisfy { token, use in
            (try? verifier.verify(token, .init(use: use), now: now)).map { $0.expiresAt - now >= seconds } ?? false
        }
    }
}

// MARK: What is sealed

extension OwnSessions {
    private static func lockName(_ name: String) -> String { "own session/\(name)" }

    private func seal(_ refreshToken: String, _ name: String) -> [UInt8] {
        surroundings.vault.seal(SecretBytes(Array(refreshToken.utf8)), as: "own refresh token \(name)")
    }

    /// - Throws: `SealBroken`.
    private func refreshToken(_ sealed: [UInt8], _ name: String) throws -> String {
        String(decoding: try surroundings.vault.open(sealed, as: "own refresh token \(name)").copy(), as: UTF8.self)
    }

    private func seal(_ tokens: Tokens, _ name: String) -> [UInt8] {
        let texts = JSONValue.array([.string(tokens.idToken), .string(tokens.accessToken)])
        return surroundings.vault.seal(SecretBytes(texts.bytes), as: "own tokens \(name)")
    }

    /// - Throws: `SealBroken`.
    private func tokens(_ sealed: [UInt8], _ name: String) throws -> Tokens? {
        let bytes = try surroundings.vault.open(sealed, as: "own tokens \(name)").copy()
        guard let texts = try? JSONValue(parsing: bytes).array?.compactMap(\.string), texts.count == 2 else { return nil }
        return Tokens(idToken: texts[0], accessToken: texts[1])
    }
}
