import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// The origin of a request.
struct FirstPartySource {
    /// The origin of the request, for rate limits.
    var client: ClientOrigin?
    /// The client ID of the application whose secret was verified.
    var authenticated: String?
    /// The thumbprint of the key that the request has proven (RFC 9449), or `nil` without a proof.
    var thumbprint: String?
    /// Whether the request comes from a test provider, which knows clients that the tenant does not.
    var isTestProvider = false
    let call: any CallContext
}

/// One request to the authorization challenge endpoint (OAuth 2.0 for First-Party Applications).
struct FirstPartyCall {
    let service: EntraService
    let form: EntraForm
    let tenant: TenantRecord
    /// The origin of the request, for rate limits.
    let client: ClientOrigin?
    let call: any CallContext
    /// The session of the request, or the new one.
    private(set) var state: FirstPartyState
    let asked: EntraScope

    /// - Throws: `FirstPartyError`, `EntraError`, `ClientUnknown`, `ClientNotPermitted`, `AudienceNotOffered`, `ScopeNotOffered`.
    init(_ service: EntraService, _ form: EntraForm, of tenant: TenantRecord, from source: FirstPartySource) throws {
        self.form = form
        self.tenant = tenant
        client = source.client
        call = source.call
        if let text = form["auth_session"] {
            guard let found = FirstPartyState(text, as: .session, service.context.vault), found.tenantId == tenant.id,
                [nil, found.clientId].contains(form["client_id"]), [nil, found.clientId].contains(source.authenticated)
            else { throw FirstPartyError.invalidSession }
            guard [nil, source.thumbprint].contains(found.thumbprint) else {
                throw FirstPartyError(
                    "invalid_session", "The auth_session is bound to a key: send a DPoP proof of this key. The auth_session stays valid.")
            }
            state = found
        } else {
            state = try Self.begun(by: form, source, tenant, service.context.random)
        }
        let isAuthenticated = source.authenticated == state.clientId
        if try tenant.knownApplication(state.clientId).settings.type == .confidential, !isAuthenticated {
            throw FirstPartyError("invalid_client", "The application is confidential: it must authenticate with its secret.")
        }
        _ = try tenant.nativeApplication(state.clientId, isAuthenticated: isAuthenticated)
        self.service = isAuthenticated ? service.authenticated : service
        asked = try EntraScope(state.scope, tenant, resource: state.resource)
        try service.signIn.requireOffered(asked.scope, for: asked.audience, of: tenant, to: state.clientId)
    }

    /// Continues with another token in the same request.
    mutating func take(_ token: String, _ next: FirstPartyState.Next) {
        (state.token, state.next) = (token, next)
    }

    private static func begun(
        by form: EntraForm, _ source: FirstPartySource, _ tenant: TenantRecord, _ random: any RandomSource
    ) throws -> FirstPartyState {
        guard let clientId = form["client_id"] ?? source.authenticated, [nil, clientId].contains(source.authenticated) else {
            throw FirstPartyError("invalid_request", "client_id is missing, or differs from the authenticated client.")
        }
        guard let kind = FirstPartyState.Kind(rawValue: form["flow"] ?? "sign_in") else {
            throw FirstPartyError("invalid_request", "flow must be sign_in, sign_up or reset.")
        }
        var state = FirstPartyState(id: random.uuid(), tenantId: tenant.id, clientId: clientId, kind: kind)
        (state.scope, state.resource, state.thumbprint) = (form["scope"], form["resource"], source.thumbprint)
        if let challenge = form["code_challenge"] {
            guard form["code_challenge_method"] == "S256" else {
                throw FirstPartyError("invalid_request", "code_challenge_method must be S256.")
            }
            guard challenge.utf8.count == 43, Base64URL.decode(challenge) != nil else {
                throw FirstPartyError("invalid_request", "code_challenge must be the SHA-256 hash of the code verifier in base64url.")
            }
            state.challenge = challenge
        }
        return state
    }

    /// Takes the step of the request, and returns the status and the body of the response.
    func answer() throws -> (status: Int64, body: JSONObject) {
        do {
            let outcome = form["auth_session"] == nil ? try start() : try proceed()
            return try shown(outcome)
        } catch let error as InvalidPassword {
            let rules = error.reasons.map { JSONValue.string(FirstPartyError.snake($0.rule.rawValue)) }
            return try again("invalid_password", error.message, ["rules": .array(rules)])
        } catch let error as InvalidAttributes {
            let names = error.attributes.map { JSONValue.string($0.name) }
            return try again("invalid_attributes", error.message, ["attributes": .array(names)])
        } catch let error as any ContractError where error is InvalidCode || error is CodeExpired || error is FactorCodeInvalid {
            return try again("invalid_code", error.message)
        } catch let error as any ContractError where state.next == .enrollment && EntraError.refusesContact(error) {
            return try again("invalid_target", error.message)
        }
    }

    private func shown(_ outcome: FirstPartyOutcome) throws -> (Int64, JSONObject) {
        var state = state
        switch outcome {
        case .done(let token):
            state.token = token
            state.expiresAt = service.context.clock.now + FirstPartyState.codeSeconds
            return (200, ["authorization_code": .string(state.sealed(as: .code, service.context.vault))])
        case .web(let reason): throw FirstPartyError("redirect_to_web", reason)
        case .more(let next, let token, let members, let awaitsCode):
            (state.next, state.token, state.awaitsCode) = (next, token, awaitsCode)
            return (400, insufficient(state, "The authorization needs a further step: \(next.rawValue).", members))
        }
    }

    private func insufficient(_ state: FirstPartyState, _ message: String, _ members: JSONObject) -> JSONObject {
        FirstPartyError("insufficient_authorization", message, more: Self.continued(state, members, service.context.vault)).body
    }

    /// The members with which a client continues.
    private static func continued(_ state: FirstPartyState, _ members: JSONObject, _ vault: Vault) -> JSONObject {
        var more: JSONObject = ["auth_session": .string(state.sealed(as: .session, vault)), "next": .string(state.next.rawValue)]
        for (name, value) in members.members { more[name] = value }
        return more
    }

    /// The response to a wrong value: the step stays the same.
    ///
    /// - Throws: `FirstPartyError` if the wrong value came with the request that starts the flow.
    private func again(_ reason: String, _ message: String, _ members: JSONObject = [:]) throws -> (Int64, JSONObject) {
        var members = members
        members["reason"] = .string(reason)
        guard !state.token.isEmpty else { throw FirstPartyError("invalid_request", message, more: members) }
        return (400, insufficient(state, message, members))
    }

    /// The response to a refresh that needs the user again.
    static func insufficient(
        after step: SignInStep, _ clientId: String, _ tenant: TenantRecord, _ service: EntraService
    ) throws -> FirstPartyError {
        guard case .more(let next, let token, let members, _) = FirstPartyOutcome(step) else {
            throw FirstPartyError("redirect_to_web", "The application cannot carry out the second factor.")
        }
        var state = FirstPartyState(id: service.context.random.uuid(), tenantId: tenant.id, clientId: clientId, kind: .signIn)
        (state.next, state.token) = (next, token)
        return FirstPartyError(
            "insufficient_authorization", "The user must verify a second factor.", status: 403,
            more: continued(state, members, service.context.vault))
    }
}

extension FirstPartyOutcome {
    init(_ step: SignInStep) {
        switch step {
        case .codeRequired(let step):
            self = .more(
                .code, step.continuationToken,
                Self.code(step.sentTo, step.channel ?? .email, length: step.codeLength, expiresAt: step.expiresAt))
        case .passwordRequired(let step): self = .more(.password, step.continuationToken)
        case .secondFactorRequired(let step):
            let methods = step.hints.map { hint -> JSONValue in
                var method: JSONObject = ["factor_id": .string(hint.factorId), "kind": .string(hint.kind.rawValue)]
                method["display_name"] = hint.displayName.map { .string($0) }
                method["sent_to"] = hint.sentTo.map { .string($0) }
                return .object(method)
            }
            self = .more(.secondFactor, step.continuationToken, ["methods": .array(methods)])
        case .secondFactorEnrollmentRequired(let step):
            let methods = (step.kinds ?? step.factorKinds.map { EnrollableFactor(kind: $0) }).map { each -> JSONValue in
                var method: JSONObject = ["kind": .string(each.kind.rawValue)]
                method["hint"] = each.hint.map { .string($0) }
                method["verified"] = each.verified.map { .bool($0) }
                return .object(method)
            }
            self = .more(.enrollment, step.continuationToken, ["methods": .array(methods)])
        case .tokensDeferred(let step): self = .done(token: step.continuationToken)
        case .redirectRequired(let step): self = .web(step.reason)
        case .providerRequired: self = .web("The account signs in with an identity provider in a browser.")
        case .passkeyRequired, .completed: self = .web("The account signs in with a passkey in a browser.")
        }
    }

    /// The members for a code that was sent.
    static func code(_ sentTo: String?, _ channel: Channel, length: Int64, expiresAt: Int64) -> JSONObject {
        var members: JSONObject = [
            "channel": .string(channel.rawValue), "code_length": .number(JSONNumber(length)), "expires_at": .number(JSONNumber(expiresAt)),
        ]
        members["sent_to"] = sentTo.map { .string($0) }
        return members
    }
}
