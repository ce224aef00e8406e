import Contract
import Loopback
import Platform
import ServiceContext

extension IdpService {
    /// Starts a sign-in at a provider.
    ///
    /// - Throws: `InvalidParams`, `TenantNotFound`, `ClientUnknown`, `ClientNotPermitted`, `IdpNotFound`, `IdpDisabled`,
    ///   `ListenerUnavailable`, `ProviderUnavailable`,
    ///   `ProviderUnusable`, and the errors of the verification of the ID token.
    /// - Source: RFC 6749 §4.1.1, RFC 8252 §7.3.
    public func authorize(_ request: IdpAuthorize.Params, _ call: any CallContext) throws -> IdpAuthorize.Result {
        let now = context.clock.now
        let custom = request.customParameters.map { members in members.names.map { ($0, members[$0] ?? "") } } ?? []
        try AuthorizationRequest.check(custom.map(\.0))
        if case .redirectUri(let uri) = request.back { try RedirectRule.check(uri) }
        let idp = try enabledIdp(request.providerId, of: request.tenantId)
        try AuthorizationRequest.check(custom.map(\.0), besides: ProviderStrength(idp).reserved)
        let accountId = try owner(request.idToken, in: idp.tenantId, at: now)
        var redirectUri: String?
        if case .redirectUri(let uri) = request.back { redirectUri = uri }
        let application = try application(request.clientId, besides: request.idToken, redirectUri: redirectUri, in: idp.tenantId)
        let endpoints = try endpoints(of: idp, call)
        let kind: IdpFlow.Kind = idp.responseType == .code ? .code : .idToken
        guard let place = endpoints.authorization, kind == .idToken || endpoints.token != nil else {
            throw unusable(idp, "document", "The discovery document contains no authorization_endpoint or token_endpoint.")
        }
        if kind == .idToken, case .listen = request.back, !endpoints.hasFormPost {
            throw unusable(idp, "document", "\(IdpEndpoints.noFormPost) \(IdpEndpoints.useCode)")
        }
        try check([.authorization] + (kind == .code ? [.token] : []), of: endpoints, idp)
        let (secrets, id, scope) = (IdpFlowSecrets(context), newFlowId(), idp.scope(request.scopes))
        func flow(_ redirectUri: String, isHeard: Bool) -> IdpFlow {
            IdpFlow(
                id: id, tenantId: idp.tenantId, providerId: idp.providerId, kind: kind, accountId: accountId, redirectUri: redirectUri,
                isHeard: isHeard, tokenEndpoint: endpoints.token, userinfoEndpoint: endpoints.userinfo, namesIssuer: endpoints.namesIssuer,
                scope: scope,
                expiresAt: now + IdpFlow.lifetimeSeconds, application: application)
        }
        let begun: IdpFlow
        switch request.back {
        case .redirectUri(let uri): begun = flow(uri, isHeard: false)
        case .listen(let listen):
            let path = listen.path ?? "/" + secrets.path(of: id)
            let answerTo = CallbackListener.Question(
                id: id, path: path, state: secrets.state(of: id), providerName: idp.settings.displayName ?? idp.providerId)
            do {
                let port = try context.callbacks.listen(answerTo, port: listen.port.map { UInt16($0) } ?? 0) {
                    [context] callback in
                    let (sealed, moment) = (secrets.seal(callback, of: id), context.clock.now)
                    return try context.database.write { tx in
                        guard let flow = try tx.idpFlow(id), flow.expiresAt > moment else { return .tooLate }
                        _ = try tx.keep(sealed, of: id)
                        return .kept
                    }
                }
                begun = flow("http://127.0.0.1:\(port)\(path)", isHeard: true)
            } catch let failure as LoopbackFailure {
                throw ListenerUnavailable(port: Int64(failure.port), reason: failure.reason)
            }
        }
        do { try context.database.write { try $0.insert(begun) } } catch {
            context.callbacks.close(id)
            throw error
        }
        return IdpAuthorize.Result(
            continuationToken: ContinuationTokens(context).token(of: id, step: 0),
            authorizationUrl: AuthorizationRequest(flow: begun, idp: idp, secrets: secrets, scope: scope, custom: custom).url(at: place),
            redirectUri: begun.redirectUri, expiresAt: begun.expiresAt)
    }

    /// Returns the provider if it is enabled.
    ///
    /// - Throws: `TenantNotFound`, `IdpNotFound`, `IdpDisabled`.
    func enabledIdp(_ providerId: String, of tenantId: String) throws -> IdpRecord {
        let idp = try context.database.read { tx in
            _ = try configurations.enabledTenant(tenantId, in: tx)
            return try configurations.idp(providerId, of: tenantId, in: tx)
        }
        if !idp.settings.enabled { throw IdpDisabled(tenantId: tenantId, providerId: providerId) }
        return idp
    }

    /// Returns the ID of the account that a flow is for.
    ///
    /// - Throws: The errors of the verification of the ID token.
    func owner(_ idToken: String?, in tenantId: String, at now: Int64) throws -> String? {
        guard let idToken else { return nil }
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            idToken, .init(tenantId: tenantId, use: .id), now: now)
        try configurations.requireUnlocked(token, context)
        return token.accountId
    }

    /// - Throws: `ProviderUnavailable`, `ProviderUnusable`.
    func endpoints(of idp: IdpRecord, _ call: any CallContext) throws -> IdpEndpoints {
        if let known = IdpEndpoints.known(idp) { return known }
        return IdpEndpoints(try context.foreign.description(of: idp.issuers.first ?? "", idp.address, call))
    }

    /// - Throws: `ProviderUnusable` if one of the endpoints is not valid.
    func check(_ kinds: [IdpEndpoints.Kind], of endpoints: IdpEndpoints, _ idp: IdpRecord) throws {
        // The endpoints of providers without a discovery document are built in or were entered by an administrator.
        if IdpEndpoints.known(idp) != nil { return }
        let flaws = kinds.compactMap { endpoints.flaw($0, of: idp, allowsPlainLoopback: context.foreign.allowsPlainLoopback) }
        if let flaw = flaws.first { throw unusable(idp, "address", flaw) }
    }

    /// Returns the error for an invalid discovery document. The next call fetches the document again, because it may have been corrected.
    func unusable(_ idp: IdpRecord, _ check: String, _ reason: String) -> ProviderUnusable {
        if let issuer = idp.issuers.first { context.foreign.forgetDescription(of: issuer, idp.address) }
        return ProviderUnusable(provider: idp.providerId, check: check, reason: reason)
    }

    /// A random ID of 16 bytes, in hexadecimal.
    func newFlowId() -> String { Hex.encode(context.random.bytes(16)) }
}
