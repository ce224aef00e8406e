import Accounts
import Contract
import Crypto
import JSON
import Loopback
import ServiceContext
import Storage

/// The authorization challenge endpoint, and the redemption of its codes.
extension EntraService {
    /// Returns the response to a request to the authorization challenge endpoint. It has no CORS headers: the draft advises against its use
    /// in pages.
    func challengeAnswer(_ request: WireRequest, of tenant: TenantRecord?, from source: FirstPartySource) -> WireAnswer {
        do {
            guard request.method == "POST" else {
                throw FirstPartyError("invalid_request", "The endpoint accepts POST requests only.", status: 405)
            }
            guard let tenant else { throw FirstPartyError("invalid_request", "The tenant of the address does not exist.", status: 404) }
            let form: EntraForm
            do { form = try EntraForm(request) } catch let error as EntraError {
                throw FirstPartyError("invalid_request", error.message)
            }
            let (status, body) = try FirstPartyCall(self, form, of: tenant, from: authenticated(source, request, form, of: tenant)).answer()
            return Self.answer(body, status: status)
        } catch let error as FirstPartyError {
            return Self.answer(error, request)
        } catch let error as EntraError {
            return Self.answer(FirstPartyError(error.error, error.message, status: error.status), request)
        } catch let error as any ContractError {
            return Self.answer(FirstPartyError(error), request)
        } catch {
            return Self.answer(FirstPartyError("server_error", "The store failed.", status: 503), request)
        }
    }

    /// Returns the source of a request after verifying its client secret.
    ///
    /// - Throws: `EntraError`, `ClientUnknown`, `ClientSecretInvalid`.
    private func authenticated(
        _ source: FirstPartySource, _ request: WireRequest, _ form: EntraForm, of tenant: TenantRecord
    ) throws -> FirstPartySource {
        guard source.authenticated == nil else { return source }
        if source.isTestProvider, form["client_id"].flatMap(tenant.application)?.settings.type != .confidential { return source }
        var source = source
        source.authenticated = try ClientCredentials(request, form).authenticated(of: tenant, context)
        return source
    }

    private static func answer(_ body: JSONObject, status: Int64, _ more: [(String, String)] = []) -> WireAnswer {
        let headers = [("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store"), ("pragma", "no-cache")]
        return WireAnswer(status: status, headers: headers + more, body: JSONValue.object(body).text)
    }

    private static func answer(_ error: FirstPartyError, _ request: WireRequest) -> WireAnswer {
        var more = error.retryAfterSeconds.map { [("retry-after", "\($0)")] } ?? []
        if error.status == 405 { more.append(("allow", "POST")) }
        guard error.error == "invalid_client", request.header("authorization") != nil else {
            return answer(error.body, status: error.status, more)
        }
        return answer(error.body, status: 401, more + [("www-authenticate", "Basic realm=\"mintmark\"")])
    }

    /// The metadata of the tenant (RFC 8414). The endpoint has both of the names that drafts give it.
    func serverMetadata(_ base: String, _ tenant: TenantRecord) -> JSONObject {
        let endpoint = JSONValue.string("\(base)/\(EntraEndpoint.authorizeChallenge.rawValue)")
        return [
            "issuer": .string(context.realm.issuer(of: .tenant(tenant.id))), "authorization_challenge_endpoint": endpoint,
            "native_authorization_endpoint": endpoint, "token_endpoint": .string("\(base)/oauth2/v2.0/token"),
            "jwks_uri": .string("\(base)/discovery/v2.0/keys"), "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "scopes_supported": .array((Scopes.standard + tenant.scopes).map { .string($0) }),
        ]
    }
}

/// The refusal of an authorization code of the authorization challenge endpoint.
public struct RefusedNativeCode: Error {
    public let reason: String
}

extension EntraService {
    /// Exchanges an authorization code of the authorization challenge endpoint. A code is valid once.
    ///
    /// - Throws: `RefusedNativeCode`, and the errors of `signIn.withContinuation`.
    func redeem(
        _ code: FirstPartyState, verifier: String?, clientId: String, tenantId: String, from source: FirstPartySource
    ) throws -> SignInStep {
        guard let expiresAt = code.expiresAt, code.tenantId == tenantId, code.clientId == clientId else {
            throw RefusedNativeCode(reason: "The code was issued to another client.")
        }
        guard context.clock.now < expiresAt else {
            throw RefusedNativeCode(reason: "The code has expired: codes are valid for \(FirstPartyState.codeSeconds) seconds.")
        }
        guard [nil, source.thumbprint].contains(code.thumbprint) else {
            throw RefusedNativeCode(reason: "The code is bound to a key: send a DPoP proof of this key at the issuer of the code.")
        }
        guard code.isProved(by: verifier) else {
            let reason = code.challenge == nil ? "was sent without a code_challenge" : "does not match code_challenge"
            throw RefusedNativeCode(reason: "code_verifier \(reason).")
        }
        do {
            return try signIn.withContinuation(.init(continuationToken: code.token, client: source.client, clientId: clientId), source.call)
        } catch let error as any ContractError
            where error is ContinuationTokenInvalid || error is ContinuationTokenExpired || error is FlowEnded || error is FlowFinished
        {
            throw RefusedNativeCode(reason: "The code was already used, or its flow has ended.")
        }
    }
}

extension EntraCall {
    /// Exchanges the authorization code of the request.
    func redeemCode() throws -> JSONObject {
        let text = try form.required("code")
        func refuse(_ reason: String) -> EntraError { EntraError("invalid_grant", 70000, reason) }
        guard let code = FirstPartyState(text, as: .code, service.context.vault) else { throw refuse("The code is unknown.") }
        if let given = form["auth_session"] {
            guard FirstPartyState(given, as: .session, service.context.vault)?.id == code.id else {
                throw refuse("The auth_session is not that of the code.")
            }
        }
        let asked = try EntraScope(code.scope, tenant, resource: code.resource)
        do {
            let verifier = form["code_verifier"]
            return try answer(
                try service.redeem(
                    code, verifier: verifier, clientId: clientId, tenantId: tenant.id, from: FirstPartySource(client: client, call: call)),
                asked)
        } catch let refused as RefusedNativeCode { throw refuse(refused.reason) }
    }

    /// The response to a refresh that needs a second factor, for clients that continue at the authorization challenge endpoint.
    func needsUser(for contexts: [String]) throws -> EntraError {
        let step = try service.signIn.requesting(contexts: contexts).secondFactor(
            ofRefreshToken: try form.required("refresh_token"), SessionRefresh.info.name, call)
        let refusal = try FirstPartyCall.insufficient(after: step, clientId, tenant, service)
        var error = EntraError(refusal.error, 50076, refusal.message, status: refusal.status)
        error.more = refusal.more
        return error
    }
}
