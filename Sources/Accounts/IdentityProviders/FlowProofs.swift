import Contract
import Crypto
import JSON
import Platform

/// Proves who somebody is by a flow that `idp.authorize` or `idp.authorizeDevice` has begun (firebase.md 3.4, steps 6 to 8).
struct FlowProofs: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    let secrets: IdpFlowSecrets

    init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        secrets = IdpFlowSecrets(surroundings)
    }

    /// What the provider gave for a flow, which serves once.
    struct Given: Sendable {
        let flow: IdpFlow
        let idp: IdpRecord
        let idToken: String?
        let accessToken: String?
        let companions: ForeignIDToken.Companions
        /// What the token endpoint gave for later.
        var grant: ProviderGrant?
    }

    /// - Parameter accountId: whose account it is to serve; nil to sign in.
    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `FlowUsed`, `UserMismatch`, `CallbackInvalid`, `SignInRefused`,
    ///   `ListenerGone`, `InvalidCredential`, `IdpNotFound`, `IdpDisabled`, `ProviderUnavailable`, `ProviderUnusable`; `AwaitsPeople`.
    func prove(_ token: String, _ url: String?, in tenantId: String, for accountId: String?, _ call: any CallContext) throws -> Given {
        let id = try surroundings.database.read { try ContinuationTokens(surroundings).read(token, in: $0).id }
        while true {
            // Asked before the row is read: what is heard is in the row before nobody listens any more.
            let (isListening, turns) = (surroundings.callbacks.isListening(id), surroundings.callbacks.turns)
            let (flow, idp) = try surroundings.database.read { tx -> (IdpFlow, IdpRecord) in
                guard let flow = try tx.idpFlow(id) else { throw ContinuationTokenExpired() }
                guard flow.tenantId == tenantId else { throw ContinuationTokenInvalid() }
                return (flow, try catalogue.idp(flow.providerId, of: tenantId, in: tx))
            }
            if flow.expiresAt <= surroundings.clock.now { throw ContinuationTokenExpired() }
            if let owner = flow.accountId, owner != accountId { throw UserMismatch() }
            if !idp.settings.enabled { throw IdpDisabled(tenantId: tenantId, providerId: idp.providerId) }
            switch flow.stage {
            case .redeeming, .used: throw FlowUsed()
            case .redeemed: return try given(flow, idp, flow.sealed.map { try secrets.open($0, of: id) } ?? "")
            case .open: break
            }
            let wait: AwaitsPeople
            if flow.kind == .device {
                switch try DevicePolling(surroundings: surroundings, secrets: secrets).ask(flow, idp, call) {
                case .answered(let answer): return try given(flow, idp, answer)
                case .later(let pause): wait = pause
                }
            } else if let url = try url ?? flow.sealed.map({ try secrets.open($0, of: id) }) {
                return try redeem(url, isHeard: flow.sealed != nil && flow.isHeard, flow, idp, call)
            } else if !flow.isHeard {
                let message = "The callback URL is missing."
                throw InvalidParams(violations: [Violation(pointer: "/credential/url", rule: "required", message: message)])
            } else if isListening {
                let callbacks = surroundings.callbacks
                wait = AwaitsPeople(giveUp: { callbacks.close(id) }) { callbacks.whenOver(id, since: turns, $0) }
            } else {
                throw ListenerGone()
            }
            try wait.pass(call)
        }
    }

    private func redeem(_ url: String, isHeard: Bool, _ flow: IdpFlow, _ idp: IdpRecord, _ call: any CallContext) throws -> Given {
        var expected = flow
        // What was heard names no port: the server that heard it has the right one.
        if isHeard { expected = flow.movedToLoopback }
        let callback: AuthorizationCallback
        do {
            callback = try AuthorizationCallback(url, expected, state: secrets.state(of: flow.id), issuers: idp.issuers)
        } catch {
            // The provider has refused, which is the outcome of the flow. A URL that an app hands in and that does not belong to the flow
            // changes nothing; what came to the listener had the flow's own path and state.
            if isHeard || error is SignInRefused { try end(flow) }
            throw error
        }
        switch callback {
        case .idToken(let token, let accessToken):
            let companions = ForeignIDToken.Companions(accessToken: accessToken, nonce: .exactly(secrets.nonce(of: flow.id)))
            return Given(flow: flow, idp: idp, idToken: token, accessToken: accessToken, companions: companions)
        case .code(let code):
            let answer = try CodeRedemption(surroundings: surroundings, secrets: secrets).redeem(code, flow, idp, call)
            return try given(flow, idp, answer)
        }
    }

    /// Ends a flow without success. It is used then, like one that has succeeded.
    func end(_ flow: IdpFlow) throws {
        _ = try surroundings.database.write { try $0.move(flow, from: flow.stage, to: .used, sealed: nil) }
    }

    /// Whether an error is the outcome of a flow, so that the flow cannot be used again. After the others, such as an answer that did not
    /// arrive, the same answer can be shown again.
    static func isOutcome(_ error: any Error) -> Bool {
        switch error {
        case is InvalidCredential, is InvalidNonce, is SignInRefused, is AccountDisabled, is SignUpNotAllowed, is TokenRevoked,
            is AccountMerged, is UserMismatch:
            true
        default: false
        }
    }

    /// - Parameter answer: what the token endpoint said, with the code.
    private func given(_ flow: IdpFlow, _ idp: IdpRecord, _ answer: String) throws -> Given {
        guard let object = try? JSONText(answer).root else { throw FlowUsed() }
        var flow = flow
        flow.stage = .redeemed
        let accessToken = object["access_token"]?.string
        let received = object[ProviderGrant.receivedAt]?.number?.int64 ?? 0
        let companions = ForeignIDToken.Companions(
            accessToken: accessToken, code: object["code"]?.string,
            nonce: flow.kind == .device ? .unasked : .exactly(secrets.nonce(of: flow.id)))
        return Given(
            flow: flow, idp: idp, idToken: object["id_token"]?.string, accessToken: accessToken, companions: companions,
            grant: ProviderGrant(object, asked: flow.scope, from: idp.grantSource, at: received))
    }
}

extension IdpFlow {
    /// The same, with the redirect URI as `CallbackListener` says it.
    fileprivate var movedToLoopback: IdpFlow {
        let path = redirectUri.dropFirst("http://127.0.0.1".utf8.count).drop { $0 != "/" }
        return IdpFlow(
            id: id, tenantId: tenantId, providerId: providerId, kind: kind, accountId: accountId, redirectUri: "http://127.0.0.1\(path)",
            isHeard: isHeard, tokenEndpoint: tokenEndpoint, userinfoEndpoint: userinfoEndpoint, namesIssuer: namesIssuer, scope: scope,
            expiresAt: expiresAt)
    }
}

extension AwaitsPeople {
    /// Ends this run where the call can be run again, else waits on this thread.
    ///
    /// - Throws: itself; `CancellationError`.
    func pass(_ call: any CallContext) throws {
        if call.mayAnswerLater { throw self }
        let isOver = Gate(false)
        whenOver {
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        while isOver.wait(deadline: Monotonic.nanoseconds() + 250_000_000, until: { $0 ? () : nil }) == nil {
            if call.isCancelled {
                giveUp()
                throw CancellationError()
            }
        }
    }
}
