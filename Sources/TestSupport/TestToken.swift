import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import SigningKeys

extension TestService {
    /// Signs a token with arbitrary header fields and claims, with a key of the issuer or with another key.
    ///
    /// - Throws: `IssuerNotFound`, `NoKeyInState`.
    public func token(_ request: TestToken.Params, _ call: any CallContext) throws -> TestToken.Result {
        let now = context.clock.now
        let issuer = request.issuer ?? context.realm.issuer(of: .tenant("default"))
        guard let owner = context.realm.owner(ofIssuer: issuer) ?? provider.owner(ofIssuer: issuer) else {
            throw IssuerNotFound(issuer: issuer)
        }
        let ring = try ring(of: owner, at: now)
        guard !ring.keys.isEmpty else { throw IssuerNotFound(issuer: issuer) }
        guard let (key, kid) = try Self.key(request.keyState, of: ring, context.random, at: now) else {
            throw NoKeyInState(issuer: issuer, keyState: request.keyState.rawValue)
        }
        let header: JSONObject = [
            "alg": .string(key.algorithm.rawValue), "kid": .string(kid), "typ": .string(Self.type(request.use, of: owner)),
        ]
        var claims: JSONObject = [
            "iss": .string(issuer), "sub": .string(request.subject), "aud": .string(request.audience), "iat": .number(JSONNumber(now)),
            "exp": .number(JSONNumber(now + request.expiresInSeconds)),
        ]
        if let tenantId = owner.tenantId, request.use != .pool {
            claims["sid"] = .string(SessionRecord.ofTestTokens)
            claims["auth_time"] = .number(JSONNumber(now))
            if request.use == .access {
                claims["jti"] = .string(context.random.uuid())
                claims["client_id"] = .string(tenantId)
                claims["scope"] = .string(Scopes.usual)
            }
        }
        let parts = [header.changed(by: request.header), claims.changed(by: request.claims)].map {
            Base64URL.encode(Array(JSONValue.object($0).text.utf8))
        }
        let signed = parts.joined(separator: ".")
        return TestToken.Result(token: signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8))))
    }

    /// Returns the keys of `owner`. Creates the first key of a tenant that has none.
    private func ring(of owner: KeyOwner, at now: Int64) throws -> KeyRing {
        if case .tenant(let id) = owner {
            guard let tenant = try context.database.read({ try configurations.knownTenant(id, in: $0) }) else { return KeyRing([]) }
            _ = try SignInCompletion(context, configurations).signingKey(of: tenant, at: now)
        }
        return try context.database.read { try configurations.signingKeys.ring(of: owner, in: $0) }
    }

    private static func key(
        _ state: TestToken.Params.KeyState, of ring: KeyRing, _ random: any RandomSource, at now: Int64
    ) throws -> (key: PrivateKey, kid: String)? {
        switch state {
        case .wrong:
            guard let active = ring.active(at: now) else { return nil }
            return (try PrivateKey.generate(active.algorithm, from: random), active.kid)
        case .unknown:
            guard let active = ring.active(at: now) else { return nil }
            let key = try PrivateKey.generate(active.algorithm, from: random)
            return (key, key.keyID)
        case .active, .next, .retired, .revoked, .gone:
            return ring.keys.last { ring.state(of: $0, at: now).rawValue == state.rawValue }.map { ($0.privateKey, $0.kid) }
        }
    }

    private static func type(_ use: TestToken.Params.Use?, of owner: KeyOwner) -> String {
        switch use {
        case .id: TokenType.id
        case .access: TokenType.access
        case .pool: TokenType.pool
        case nil: owner.poolId == nil ? TokenType.id : TokenType.pool
        }
    }
}

extension JSONObject {
    /// Returns this object with the members of `other` added or replaced. A member that is `null` is removed.
    func changed(by other: JSONObject?) -> JSONObject {
        var object = self
        for (name, value) in other?.members ?? [] { object[name] = value.isNull ? Optional.none : .some(value) }
        return object
    }
}
