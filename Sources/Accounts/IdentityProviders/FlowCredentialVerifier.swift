import Contract
import Crypto
import JSON
import Platform

/// Verifies the outcome of a flow that `idp.authorize` or `idp.authorizeDevice` has started.
struct FlowCredentialVerifier: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    let secrets: IdpFlowSecrets

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        secrets = IdpFlowSecrets(context)
    }

    /// The tokens that the provider issued for a flow. They are single-use.
    struct Given: Sendable {
        let flow: IdpFlow
        let idp: IdpRecord
        let idToken: String?
        let accessToken: String?
        let companions: ExternalIDTokenRules.Companions
        /// The provider tokens that can be refreshed later.
        var grant: ProviderGrant?
    }

    /// - Parameter use: The purpose of the credential.
    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `FlowUsed`, `UserMismatch`, `CallbackInvalid`, `SignInRefused`,
    ///   `ListenerGone`, `InvalidCredential`, `IdpNotFound`, `IdpDisabled`, `ProviderUnavailable`, `ProviderUnusable`.
    /// - Returns: The tokens, or the wait until the user has signed in.
    func prove(
        _ token: String, _ url: String?, in tenantId: String, for use: CredentialUse, _ call: any CallContext
    ) throws -> Phase<Given> {
        try prove(
            flow: context.database.read { try ContinuationTokens(context).read(token, in: $0).id }, url, in: tenantId, for: use, call)
    }

    private func prove(
        flow id: String, _ url: String?, in tenantId: String, for use: CredentialUse, _ call: any CallContext
    ) throws -> Phase<Given> {
        // Read before the row: the listener stores a response in the row before it stops listening.
        let (isListening, turns) = (context.callbacks.isListening(id), context.callbacks.turns)
        let (flow, idp) = try context.database.read { tx -> (IdpFlow, IdpRecord) in
            guard let flow = try tx.idpFlow(id) else {
                guard try tx.ceremony(id) != nil else { throw ContinuationTokenExpired() }
                let message = "The response of the browser is missing, which the continuation token of a passkey needs."
                throw InvalidParams(violations: [Violation(pointer: "/credential/response", rule: "required", message: message)])
            }
            guard flow.tenantId == tenantId, flow.isFor(use.application) else { throw ContinuationTokenInvalid() }
            return (flow, try configurations.idp(flow.providerId, of: tenantId, in: tx))
        }
        if flow.expiresAt <= context.clock.now { throw ContinuationTokenExpired() }
        if let owner = flow.accountId, owner != use.accountId { throw UserMismatch() }
        if !idp.settings.enabled { throw IdpDisabled(tenantId: tenantId, providerId: idp.providerId) }
        switch flow.stage {
        case .redeeming, .used: throw FlowUsed()
        case .redeemed: return .done(try given(flow, idp, flow.sealed.map { try secrets.open($0, of: id) } ?? ""))
        case .open: break
        }
        let wait: AwaitedEvent
        if flow.kind == .device {
            switch try DevicePolling(context: context, secrets: secrets).ask(flow, idp, call) {
            case .answered(let answer): return .done(try given(flow, idp, answer))
            case .later(let pause): wait = pause
            }
        } else if let url = try url ?? flow.sealed.map({ try secrets.open($0, of: id) }) {
            return .done(try redeem(url, isHeard: flow.sealed != nil && flow.isHeard, of: flow, at: idp, call))
        } else if !flow.isHeard {
            let message = "The callback URL is missing."
            throw InvalidParams(violations: [Violation(pointer: "/credential/url", rule: "required", message: message)])
        } else if isListening {
            let callbacks = context.callbacks
            wait = AwaitedEvent(giveUp: { callbacks.close(id) }) { callbacks.whenOver(id, since: turns, $0) }
        } else {
            throw ListenerGone()
        }
        return .next(.event(wait)) { call in try prove(flow: id, url, in: tenantId, for: use, call) }
    }

    private func redeem(_ url: String, isHeard: Bool, of flow: IdpFlow, at idp: IdpRecord, _ call: any CallContext) throws -> Given {
        var expected = flow
        // The redirect URI of a received response contains no port; the server that received it has the right one.
        if isHeard { expected = flow.movedToLoopback }
        let callback: AuthorizationCallback
        do {
            callback = try AuthorizationCallback(url, expected, state: secrets.state(of: flow.id), issuers: idp.issuers)
        } catch {
            // An error response of the provider is the outcome of the flow. A URL that an app passes and that does not belong to the flow
            // changes nothing. A response received by the listener had the path and state of the flow.
            if isHeard || error is SignInRefused { try end(flow) }
            throw error
        }
        switch callback {
        case .idToken(let token, let accessToken):
            let companions = ExternalIDTokenRules.Companions(accessToken: accessToken, nonce: .exactly(secrets.nonce(of: flow.id)))
            return Given(flow: flow, idp: idp, idToken: token, accessToken: accessToken, companions: companions)
        case .code(let code):
            let answer = try CodeRedemption(context: context, secrets: secrets).redeem(code, of: flow, at: idp, call)
            return try given(flow, idp, answer)
        }
    }

    /// Ends a flow without success. It counts as used, like a successful flow.
    func end(_ flow: IdpFlow) throws {
        _ = try context.database.write { try $0.move(flow, from: flow.stage, to: .used, sealed: nil) }
    }

    /// Returns whether an error is the outcome of a flow, so that the flow cannot be used again. After other errors, such as a network
    /// failure, the same response can be submitted again.
    static func isOutcome(_ error: any Error) -> Bool {
        switch error {
        case is InvalidCredential, is InvalidNonce, is SignInRefused, is RefusedByHook, is AccountDisabled, is SignUpNotAllowed,
            is TokenRevoked,
            is AccountMerged, is UserMismatch:
            true
        default: false
        }
    }

    /// - Parameter answer: The response of the token endpoint, with the code added.
    private func given(_ flow: IdpFlow, _ idp: IdpRecord, _ answer: String) throws -> Given {
        guard let object = try? JSONText(answer).root else { throw FlowUsed() }
        var flow = flow
        flow.stage = .redeemed
        let accessToken = object["access_token"]?.string
        let received = object[ProviderGrant.receivedAt]?.number?.int64 ?? 0
        let companions = ExternalIDTokenRules.Companions(
            accessToken: accessToken, code: object["code"]?.string,
            nonce: flow.kind == .device ? .unasked : .exactly(secrets.nonce(of: flow.id)))
        return Given(
            flow: flow, idp: idp, idToken: object["id_token"]?.string, accessToken: accessToken, companions: companions,
            grant: ProviderGrant(object, asked: flow.scope, from: idp.grantSource, at: received))
    }
}

extension IdpFlow {
    /// The same flow with the redirect URI in the form that `CallbackListener` reports.
    fileprivate var movedToLoopback: IdpFlow {
        let path = redirectUri.dropFirst("http://127.0.0.1".utf8.count).drop { $0 != "/" }
        return IdpFlow(
            id: id, tenantId: tenantId, providerId: providerId, kind: kind, accountId: accountId, redirectUri: "http://127.0.0.1\(path)",
            isHeard: isHeard, tokenEndpoint: tokenEndpoint, userinfoEndpoint: userinfoEndpoint, namesIssuer: namesIssuer, scope: scope,
            expiresAt: expiresAt)
    }
}
