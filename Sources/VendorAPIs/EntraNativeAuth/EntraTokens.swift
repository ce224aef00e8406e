import Accounts
import Contract
import Crypto
import JSON
import Platform

/// The endpoint `token`.
extension EntraCall {
    private static let kinds: [PendingFlow.Kind] = [.signUp, .signIn, .passwordReset, .other]

    func token() throws -> JSONObject {
        let grant = try form.required("grant_type")
        var asked = try EntraScope(form["scope"], tenant)
        asked.contexts = form["claims"].map { EntraScope.contexts(in: $0) } ?? []
        switch grant {
        case "refresh_token": return try refresh(asked)
        case "authorization_code": return try redeemCode()
        case "password", "oob", "mfa_oob", "continuation_token": break
        default: throw EntraError("unsupported_grant_type", 70003, "The grant_type '\(grant)' is not supported.")
        }
        let (token, flow) = try flow(Self.kinds, at: .token)
        return try answer(try step(grant, of: flow, token: token, asked), asked)
    }

    private func step(_ grant: String, of flow: PendingFlow, token: String, _ asked: EntraScope) throws -> SignInStep {
        switch (grant, flow.step) {
        case ("password", .password): return try password(token, asked)
        case ("password", .code) where tenant.enumerationProtection: return try password(token, asked)
        case ("oob", .code): return try firstCode(token, asked)
        // A client whose connection broke repeats the request that led to the second factor. The methods accept exactly this request.
        case ("password", .secondFactor), ("password", .enrollment): return try password(token, asked)
        case ("oob", .secondFactor) where flow.isSuperseded, ("oob", .enrollment): return try firstCode(token, asked)
        case ("continuation_token", .secondFactor), ("continuation_token", .enrollment): return try continuation(token, asked)
        case ("oob", .secondFactor), ("mfa_oob", .secondFactor): return try secondFactor(token, asked)
        case ("continuation_token", .completed):
            // After a registration, the username of the request is ignored.
            if !flow.awaitsTokens, let username = form["username"], username.lowercased() != flow.username.lowercased() {
                throw EntraError("invalid_request", 90100, "username parameter is empty or not valid for this continuation_token.")
            }
            return try continuation(token, asked)
        case ("password", .code), ("oob", .password):
            throw EntraError("invalid_grant", 400_002, "The grant_type does not fit the authentication method of the account.")
        default: throw EntraError.wrongToken(at: .token)
        }
    }

    private func password(_ token: String, _ asked: EntraScope) throws -> SignInStep {
        try service.signIn.requesting(contexts: asked.contexts).submitPassword(
            .init(
                continuationToken: token, password: try form.required("password"), audience: asked.audience, scope: asked.scope,
                client: client, clientId: clientId), call)
    }

    private func firstCode(_ token: String, _ asked: EntraScope) throws -> SignInStep {
        try service.signIn.requesting(contexts: asked.contexts).submitCode(
            .init(
                continuationToken: token, code: try code(), audience: asked.audience, scope: asked.scope, client: client,
                clientId: clientId), call)
    }

    /// The scopes of this request decide, not those of the request that verified the first factor.
    private func secondFactor(_ token: String, _ asked: EntraScope) throws -> SignInStep {
        try service.signIn.requireOffered(asked.scope, for: asked.audience, of: tenant, to: clientId)
        let step = try service.mfa.resolve(
            .init(
                continuationToken: token, proof: .code(try code()), audience: asked.audience, client: client, clientId: clientId,
                deferTokens: asked.scope != nil), call)
        guard case .tokensDeferred(let waiting) = step else { return step }
        return try continuation(waiting.continuationToken, asked)
    }

    private func continuation(_ token: String, _ asked: EntraScope) throws -> SignInStep {
        try service.signIn.requesting(contexts: asked.contexts).withContinuation(
            .init(continuationToken: token, audience: asked.audience, scope: asked.scope, client: client, clientId: clientId), call)
    }

    func answer(_ step: SignInStep, _ asked: EntraScope) throws -> JSONObject {
        switch step {
        case .completed(let step):
            let issued = Tokens(
                idToken: step.idToken, accessToken: step.accessToken, refreshToken: step.refreshToken, scope: step.scope,
                expiresAt: step.expiresAt)
            return tokens(issued, account: step.account.accountId, asked)
        case .secondFactorRequired(let step):
            guard Self.canCarry(step.hints) else { return redirect("the account has no second factor that uses codes") }
            throw EntraError("invalid_grant", 50076, "A second factor is required.", suberror: "mfa_required")
                .continued(with: step.continuationToken)
        case .secondFactorEnrollmentRequired(let step):
            guard step.factorKinds.contains(where: Self.canRegister) else {
                return redirect("the tenant requires a second factor that does not use codes")
            }
            throw EntraError("invalid_grant", 50076, "A second factor must be registered.", suberror: "registration_required")
                .continued(with: step.continuationToken)
        case .redirectRequired(let step): return redirect(step.missing)
        case .providerRequired: return redirect([.provider])
        case .passkeyRequired: return redirect("the account needs a passkey, which this API cannot use")
        case .codeRequired, .passwordRequired, .tokensDeferred: throw EntraError.wrongToken(at: .token)
        }
    }

    private func refresh(_ asked: EntraScope) throws -> JSONObject {
        let found = try service.signIn.session(ofRefreshToken: try form.required("refresh_token"))
        if let id = found?.accountId, try service.context.database.read({ try $0.account(id)?.tenantId }) != tenant.id {
            throw RefreshTokenInvalid()
        }
        let fresh: Tokens
        do {
            fresh = try service.session.requesting(contexts: asked.contexts).refresh(
                .init(refreshToken: try form.required("refresh_token"), audience: asked.audience, scope: asked.scope, clientId: clientId),
                call)
        } catch is SecondFactorRequired where form["auth_session_supported"] == "true" { throw try needsUser(for: asked.contexts) }
        return tokens(fresh, account: found?.accountId ?? "", asked)
    }

    private func tokens(_ issued: Tokens, account: String, _ asked: EntraScope) -> JSONObject {
        let seconds = JSONValue.number(JSONNumber(tenant.tokens.accessTokenSeconds))
        let scopes = issued.scope.split(separator: " ").map(String.init)
        let owner = JSONValue.object(["uid": .string(account), "utid": .string(tenant.id)]).text
        var body: JSONObject = [
            "token_type": "Bearer", "scope": .string(scopes.map(asked.shown).joined(separator: " ")), "expires_in": seconds,
            "ext_expires_in": seconds, "access_token": .string(issued.accessToken),
            "client_info": .string(Base64URL.encode(Array(owner.utf8))),
        ]
        if scopes.contains("openid") { body["id_token"] = .string(issued.idToken) }
        if scopes.contains("offline_access") { body["refresh_token"] = .string(issued.refreshToken) }
        return body
    }
}

/// The requested scopes, which name their audience.
struct EntraScope {
    /// `nil` for the tenant itself.
    private(set) var audience: String?
    /// The scopes without their audience; `nil` if none were requested.
    private(set) var scope: String?
    /// The authentication contexts that the access token must have.
    var contexts: [String] = []

    /// - Parameter resource: The audience of scopes that name none (RFC 8707).
    /// - Throws: `EntraError` if the scopes belong to several audiences.
    init(_ text: String?, _ tenant: TenantRecord, resource: String? = nil) throws {
        audience = resource == tenant.id ? nil : resource
        guard let text else { return }
        var names: [String] = []
        for word in text.split(separator: " ").map(String.init) {
            guard let audience = tenant.audienceNames.filter({ word.hasPrefix($0 + "/") }).max(by: { $0.utf8.count < $1.utf8.count }) else {
                if !Scopes.standard.contains(word), self.audience != nil, self.audience != resource { throw Self.mixed }
                names.append(word)
                continue
            }
            let isFirst = self.audience == nil && names.allSatisfy { Scopes.standard.contains($0) }
            guard isFirst || self.audience == audience else { throw Self.mixed }
            self.audience = audience
            let name = String(word.dropFirst(audience.count + 1))
            names += name == ".default" ? tenant.scopeNames(of: audience) : [name]
        }
        scope = names.isEmpty ? nil : names.joined(separator: " ")
    }

    private static let mixed = EntraError("invalid_scope", 70011, "The scopes of one request must belong to one audience.")

    /// Returns the essential `acrs` of the access token in the parameter `claims`. Other requests for claims are ignored.
    ///
    /// - Source: OpenID Connect Core 1.0 §5.5.1.
    static func contexts(in claims: String) -> [String] {
        guard let asked = (try? JSONValue(parsing: claims))?.object?["access_token"]?.object?["acrs"]?.object,
            asked["essential"]?.bool == true
        else { return [] }
        return (asked["value"]?.string.map { [$0] } ?? []) + (asked["values"]?.array?.compactMap(\.string) ?? [])
    }

    /// Returns a granted scope in the form in which it was requested.
    func shown(_ name: String) -> String {
        guard let audience, !Scopes.standard.contains(name) else { return name }
        return "\(audience)/\(name)"
    }
}
