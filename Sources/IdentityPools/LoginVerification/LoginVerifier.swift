import Contract
import Crypto
import Federation
import JSON
import ServiceContext
import Platform

/// Verifies the public logins of a call. If one login is not valid, the call fails.
package struct LoginVerifier: Sendable {
    let context: ServiceContext
    let configurations: PoolConfigurationCache

    init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// - Returns: The verified logins, ordered by provider name, or the wait for a provider and then the verification.
    /// - Throws: For a name `PublicProviderRequired`, `PoolTokenNotAccepted`, `SamlNotSupported`, `LegacyProviderNotSupported`,
    ///   `UnsupportedLoginProvider`; for a token `LoginTokenInvalid`, `ProviderUnavailable`, `ProviderUnusable`.
    func verify(_ logins: Members<String>?, of pool: PoolRecord, _ call: any CallContext, now: Int64) throws -> Phase<[VerifiedLogin]> {
        guard let logins, !logins.isEmpty else { return .done([]) }
        let ordered = logins.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let named = try ordered.map { ($0.value, try provider($0.name, of: pool)) }
        var verified: [VerifiedLogin] = []
        verified.reserveCapacity(named.count)
        for (token, provider) in named {
            switch try verify(token, from: provider, call, now: now) {
            case .verified(let login): verified.append(login)
            case .waits(let wait):
                return .next(wait) { call in
                    let context = context.scoped(to: call)
                    return try LoginVerifier(context, configurations).verify(logins, of: pool, call, now: context.clock.now)
                }
            }
        }
        return .done(verified)
    }

    private enum Outcome {
        case verified(VerifiedLogin)
        case waits(Wait)
    }

    private func provider(_ name: String, of pool: PoolRecord) throws -> LoginProvider {
        if name == pool.developerProvider { throw PublicProviderRequired(provider: name) }
        if name == LoginProvider.poolTokenName { throw PoolTokenNotAccepted(provider: name) }
        if let provider = pool.provider(named: name) { return provider }
        if name.hasPrefix("arn:"), name.includes(":saml-provider/") { throw SamlNotSupported(provider: name) }
        if LoginProvider.legacyNames.contains(name) { throw LegacyProviderNotSupported(provider: name) }
        throw UnsupportedLoginProvider(poolId: pool.id, provider: name)
    }

    private func verify(_ token: String, from provider: LoginProvider, _ call: any CallContext, now: Int64) throws -> Outcome {
        if let tenantId = provider.tenantId {
            return .verified(try TenantLogin(context, configurations).proof(of: token, from: provider, tenantId: tenantId, now: now))
        }
        guard case .openID(let issuers) = provider.kind else {
            guard call.storeAccess.mayWait else { return .waits(.network) }
            return .verified(try AccessTokenCheck(context).proof(of: token, from: provider, call, now: now))
        }
        let jws: JWS
        do { jws = try JWS.parse(token) } catch {
            throw LoginTokenInvalid(provider: provider.name, check: "malformed", reason: "Couldn't verify signed token. \(error.text)")
        }
        try refuseOwnToken(jws, provider)
        do throws(ExternalTokenRules.Refusal) { try ExternalTokenRules.checkType(jws.header) } catch {
            throw LoginTokenInvalid(provider: provider.name, check: error.check.rawValue, reason: error.reason)
        }
        // Validate the claims first, so that no keys are fetched for a token that is expired or has another issuer or audience.
        let claims = try IDTokenClaims(jws.payload, from: provider, now: now)
        let key: PublicKey?
        switch try lookUp(jws.header, of: provider, issuer: issuers[0], call) {
        case .known(let known): key = known
        case .waits(let wait): return .waits(wait)
        }
        guard let key, (try? jws.verify(with: key)) != nil else {
            let read = "the keys that are read from its key set: the first 128, or fewer if they are long"
            let why = key == nil ? " The provider has no key for it among \(read)." : ""
            throw LoginTokenInvalid(provider: provider.name, check: "signature", reason: "Couldn't verify signed token.\(why)")
        }
        return .verified(
            VerifiedLogin(of: claims.subject, for: claims.clientId, from: provider, claims: claims.json, realm: context.realm))
    }

    private func lookUp(_ header: JWSHeader, of provider: LoginProvider, issuer: String, _ call: any CallContext) throws -> KeyLookup {
        if let keys = provider.keys { return .known(keys.key(for: header)) }
        return try context.foreign.lookUp(header, issuer: issuer, of: provider.address, call)
    }

    private func refuseOwnToken(_ jws: JWS, _ provider: LoginProvider) throws {
        let issuer = (try? JSONText(jws.payload).root)?["iss"]?.string
        if let issuer, context.realm.owner(ofIssuer: issuer) != nil { throw PoolTokenNotAccepted(provider: provider.name) }
    }
}
