import Contract
import Federation
import JSON
import ServiceContext

extension IdpService {
    /// Starts the sign-in of a user on another device.
    ///
    /// - Throws: `TenantNotFound`, `ClientUnknown`, `IdpNotFound`, `IdpDisabled`, `SignInRefused`, `ProviderUnavailable`,
    ///   `ProviderUnusable`, and the errors
    ///   of the verification of the ID token.
    /// - Source: RFC 8628 §3.1, §3.2.
    public func authorizeDevice(_ request: IdpAuthorizeDevice.Params, _ call: any CallContext) throws -> IdpAuthorizeDevice.Result {
        let now = context.clock.now
        let idp = try enabledIdp(request.providerId, of: request.tenantId)
        let accountId = try owner(request.idToken, in: idp.tenantId, at: now)
        let application = try application(request.clientId, besides: request.idToken, redirectUri: nil, in: idp.tenantId)
        let endpoints = try endpoints(of: idp, call)
        func unusable(_ reason: String) -> ProviderUnusable { self.unusable(idp, "document", reason) }
        guard let place = endpoints.device, let token = endpoints.token else {
            throw unusable(
                "The provider does not support device authorization: its discovery document contains no device_authorization_endpoint. Use idp.authorize."
            )
        }
        try check([.device, .token], of: endpoints, idp)
        let scope = idp.scope(request.scopes)
        let question = try TokenEndpoint.question(place, [("scope", scope)], idp, vault: context.vault)
        let (status, answer) = try context.foreign.object(question, of: idp.address, call)
        if status != 200 || answer["error"] != nil {
            throw SignInRefused(
                providerId: idp.providerId, error: answer["error"]?.string.map(ProviderErrorText.of) ?? "HTTP \(status)",
                reason: TokenEndpoint.refusal(answer, status: status, "the request for a device code"))
        }
        guard let code = answer["device_code"]?.string, let userCode = answer["user_code"]?.string,
            let page = (answer["verification_uri"] ?? answer["verification_url"])?.string
        else { throw unusable("The response to a device authorization request contains no device_code, user_code or verification_uri.") }
        let complete = answer["verification_uri_complete"]?.string
        let plainLoopback = context.foreign.allowsPlainLoopback
        for (name, url) in [("verification_uri", page), ("verification_uri_complete", complete ?? page)] {
            if let flaw = idp.flaw(of: url, called: name, allowsPlainLoopback: plainLoopback) { throw unusable(flaw) }
        }
        let id = newFlowId()
        let lifetime = min(max(answer["expires_in"]?.number?.int64 ?? IdpFlow.lifetimeSeconds, 1), 3600)
        var flow = IdpFlow(
            id: id, tenantId: idp.tenantId, providerId: idp.providerId, kind: .device, accountId: accountId, redirectUri: "",
            isHeard: false, tokenEndpoint: token, userinfoEndpoint: endpoints.userinfo, namesIssuer: false, scope: scope,
            expiresAt: now + lifetime)
        flow.intervalSeconds = min(max(answer["interval"]?.number?.int64 ?? 5, 1), 60)
        flow.application = application
        flow.sealed = IdpFlowSecrets(context).seal(code, of: id)
        let begun = flow
        try context.database.write { try $0.insert(begun) }
        return IdpAuthorizeDevice.Result(
            continuationToken: ContinuationTokens(context).token(of: id, step: 0), userCode: ProviderErrorText.of(userCode),
            verificationUri: page, verificationUriComplete: complete,
            intervalSeconds: begun.intervalSeconds, expiresAt: begun.expiresAt)
    }
}
