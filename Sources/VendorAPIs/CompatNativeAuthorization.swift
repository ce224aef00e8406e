import Accounts
import Contract
import Loopback
import ServiceContext

extension CompatService {
    /// Returns the response to a request to the authorization challenge endpoint of a tenant.
    ///
    /// - Parameters:
    ///   - authenticated: The client ID of the application whose secret was verified.
    ///   - thumbprint: The thumbprint of the key that the request has proven (RFC 9449), or `nil` without a proof.
    public func nativeAuthorization(
        _ request: LoopbackRequest, tenantId: String, authenticated: String?, thumbprint: String?
    ) -> LoopbackResponse {
        guard let body = String(validating: request.body, as: UTF8.self) else {
            return LoopbackResponse(status: 400, text: "The body is not UTF-8.")
        }
        let wire = WireRequest(method: request.method, url: request.target, headers: request.headers, body: body)
        do {
            let answer = entra.challengeAnswer(
                wire, of: try entra.signIn.tenant(tenantId),
                from: FirstPartySource(authenticated: authenticated, thumbprint: thumbprint, isTestProvider: true, call: InProcessCall()))
            return LoopbackResponse(status: Int(answer.status), headers: answer.headers, body: Array(answer.body.utf8))
        } catch {
            return LoopbackResponse(status: 503, text: "The store failed.")
        }
    }

    /// Exchanges an authorization code of the authorization challenge endpoint. Returns `nil` for another code.
    ///
    /// - Throws: `RefusedNativeCode`, and the errors of `signIn.withContinuation`.
    public func redeem(
        nativeCode: String, verifier: String?, thumbprint: String?, clientId: String, tenantId: String
    ) throws -> (refreshToken: String, scope: String, audience: String?)? {
        guard let code = FirstPartyState(nativeCode, as: .code, context.vault) else { return nil }
        let step = try entra.redeem(
            code, verifier: verifier, clientId: clientId, tenantId: tenantId,
            from: FirstPartySource(thumbprint: thumbprint, call: InProcessCall()))
        guard case .completed(let step) = step else { throw RefusedNativeCode(reason: "The flow of the code is not complete.") }
        return (step.refreshToken, step.scope, code.resource)
    }
}
