import Accounts
import Contract
import Crypto
import JSON
import Loopback
import Platform
import ServiceContext
import SigningKeys

/// The supported grant types of the token endpoint.
enum ProviderGrantType: String, CaseIterable, Sendable {
    case code = "authorization_code"
    case refreshToken = "refresh_token"
    case clientCredentials = "client_credentials"
    case exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    case device = "urn:ietf:params:oauth:grant-type:device_code"
    case assertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"
}

/// The client that calls the token endpoint (RFC 6749 §2.3).
struct ProviderClient: Sendable {
    let id: String
    /// Whether the client has sent a secret or an assertion.
    let isAuthenticated: Bool
    let known: KnownClient
    /// The thumbprint of the key that the request has proven (RFC 9449), or `nil` without a proof.
    var thumbprint: String?

    /// The key to which the refresh tokens of the client are bound. Only those of public clients are (RFC 9449 §5).
    var keptThumbprint: String? { isAuthenticated ? nil : thumbprint }

    /// - Parameter acceptsAny: Whether an unknown client is accepted.
    /// - Throws: `OAuthRefusal` with `invalid_client` if the client is unknown or its secret is wrong. If no clients are configured, any
    ///   client is accepted.
    init(_ request: ProviderRequest, of issuer: ProviderIssuer, acceptsAny: Bool = false) throws {
        var (id, secret) = (request.form["client_id"], request.form["client_secret"])
        if let basic = request.authorization("basic") {
            guard let bytes = Base64.decode(basic), let text = String(validating: bytes, as: UTF8.self),
                let colon = text.firstIndex(of: ":"), let name = Self.decoded(text[..<colon]),
                let shown = Self.decoded(text[text.index(after: colon)...])
            else {
                throw OAuthRefusal(
                    "invalid_client",
                    "The Authorization header is not valid: it must contain the form-encoded client ID and secret, separated by a colon, in base64."
                )
            }
            if secret != nil { throw OAuthRefusal("invalid_request", "Send the client secret once: in the header or in the form.") }
            if let id, id != name { throw OAuthRefusal("invalid_request", "client_id differs from the one in the Authorization header.") }
            (id, secret) = (name, shown)
        }
        guard let id, !id.isEmpty else {
            throw OAuthRefusal("invalid_client", "The client is missing: send client_id, an Authorization header or client_assertion.")
        }
        guard let known = acceptsAny ? .open(id) : try issuer.client(id) else {
            throw OAuthRefusal("invalid_client", "Unknown client \(id). \(issuer.acceptedClients)")
        }
        if known.keys != nil {
            throw OAuthRefusal(
                "invalid_client",
                "The client \(id) authenticates with \(ClientAssertion.method): send client_assertion and client_assertion_type.")
        }
        if let expected = known.settings.clientSecret {
            guard let secret else {
                throw OAuthRefusal(
                    "invalid_client",
                    "The secret of client \(id) is missing: send client_secret or an Authorization header.")
            }
            guard constantTimeEquals(secret, expected) else {
                let isInHeader = request.authorization("basic") != nil
                let hint = isInHeader ? " In the header, both are form-encoded first: % is %25 (RFC 6749 2.3.1)." : ""
                throw OAuthRefusal("invalid_client", "Wrong secret of client \(id).\(hint)")
            }
        } else if !known.isOpen, secret?.isEmpty == false {
            throw OAuthRefusal("invalid_client", "The client \(id) has no secret, but one was sent.")
        }
        self.id = id
        isAuthenticated = secret?.isEmpty == false
        self.known = known
    }

    /// A client whose assertion was verified.
    init(_ id: String, _ known: KnownClient) { (self.id, self.known, isAuthenticated) = (id, known, true) }

    /// Decodes the form encoding of the client ID or the secret (RFC 6749 §2.3.1).
    private static func decoded(_ text: Substring) -> String? { Form.decode("x=\(text.replacingPlain)")?.first?.value }
}

extension Substring {
    /// Escapes `&`, so that it does not end the parameter.
    fileprivate var replacingPlain: String {
        String(map { $0 == "&" ? "\u{0}" : $0 }).split(separator: "\u{0}", omittingEmptySubsequences: false).joined(separator: "%26")
    }
}

extension TestProvider {
    /// The token endpoint (RFC 6749 §3.2).
    func token(of issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        try request.form.checkRepeated()
        var client = try client(in: request, at: .token, of: issuer)
        guard let type = request.form["grant_type"] else { throw OAuthRefusal("invalid_request", "grant_type is missing.") }
        guard let type = ProviderGrantType(rawValue: type) else {
            let known = ProviderGrantType.allCases.map(\.rawValue).joined(separator: ", ")
            throw OAuthRefusal("unsupported_grant_type", "\(type) is not supported. Supported are \(known).")
        }
        guard client.known.mayUse(type) else {
            throw OAuthRefusal("unauthorized_client", "The client \(client.id) is not registered for the grant type \(type.rawValue).")
        }
        client.thumbprint = try proof(in: request, to: .token, of: issuer)
        try requireProof(client, at: issuer)
        do {
            switch type {
            case .code: return LoopbackResponse(json: try redeemCode(client, of: issuer, request.form))
            case .refreshToken: return LoopbackResponse(json: try refresh(client, of: issuer, request.form))
            case .clientCredentials: return LoopbackResponse(json: try clientToken(client, of: issuer, request.form))
            case .exchange: return LoopbackResponse(json: try exchange(client, of: issuer, request.form))
            case .device: return LoopbackResponse(json: try pollDevice(client, of: issuer, request.form))
            case .assertion: return LoopbackResponse(json: try redeemAssertion(client, of: issuer, request.form))
            }
        } catch let error as any ContractError {
            throw OAuthRefusal(error, or: "invalid_grant")
        }
    }

    /// Exchanges an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.5 and §4.6). A second use of a code ends its session (RFC 6749
    /// §4.1.2).
    private func redeemCode(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject {
        guard let name = form["code"] else { throw OAuthRefusal("invalid_request", "code is missing.") }
        if let answer = try redeemNative(client, of: issuer, form) { return answer }
        let now = context.clock.now
        func refuse(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_grant", reason) }
        guard let code = memory.withLock({ $0.codes[name] }), code.grant.issuer == issuer.name else {
            throw refuse("The code is unknown or has expired. \(Self.again)")
        }
        func usedBefore() throws -> OAuthRefusal {
            try endSession(code.sessionId)
            return refuse("The code was already used. Its session was revoked. \(Self.again)")
        }
        guard code.grant.clientId == client.id else { throw refuse("The code was issued to another client.") }
        if code.isUsed { throw try usedBefore() }
        guard now < code.expiresAt else {
            throw refuse("The code has expired: codes are valid for \(ProviderState.codeSeconds) seconds. \(Self.again)")
        }
        guard let redirectUri = form["redirect_uri"], redirectUri.utf8.elementsEqual(code.redirectUri.utf8) else {
            throw refuse("redirect_uri differs from that of the authorization request: \(code.redirectUri)")
        }
        switch (code.challenge, form["code_verifier"]) {
        case (nil, nil): break
        case (nil, _?): throw refuse("code_verifier was sent without a code_challenge in the authorization request (RFC 9700 2.1.1).")
        case (_?, nil): throw refuse("code_verifier is missing.")
        case (let challenge?, let verifier?):
            guard 43...128 ~= verifier.utf8.count, Base64URL.encode(Hash.sha256(Array(verifier.utf8))) == challenge else {
                throw refuse("code_verifier does not match code_challenge.")
            }
        }
        if let key = code.grant.thumbprint, key != client.thumbprint {
            throw refuse("The DPoP proof is not of the key in dpop_jkt of the authorization request (RFC 9449 10).")
        }
        guard let standing = try standing(of: code.sessionId, at: now) else { throw refuse("The session was ended. \(Self.again)") }
        var grant = code.grant
        grant.audience = try issuer.audience(in: form, asGrantedIn: code.grant)
        grant.thumbprint = client.keptThumbprint
        let key = try signingKey(of: issuer, at: now)
        // The code is used up last, so that the client can repeat the request after an error or if the store was busy.
        guard memory.withLock({ [grant] in $0.spend(name, for: grant) }) else { throw try usedBefore() }
        grant.thumbprint = client.thumbprint
        let keepsSignedIn = grant.scopes.names.contains("offline_access") || client.known.metadata?.mayRefresh == true
        return try answer(
            GrantedSession(
                standing: standing, grant: grant, nonce: code.nonce, refreshToken: keepsSignedIn ? code.refreshToken : nil), of: issuer,
            key, at: now)
    }

    /// The next step for a client whose code is not valid.
    private static let again = "Start again at the authorization endpoint."

    /// Refreshes tokens (RFC 6749 §6), with the refresh token rotation of the tenant's sessions.
    private func refresh(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject {
        guard let token = form["refresh_token"] else { throw OAuthRefusal("invalid_request", "refresh_token is missing.") }
        var session = SessionService(context, configurations)
        // The client has authenticated with the secret that test.idp was given.
        session.isClientAuthenticated = true
        let now = context.clock.now
        guard var (_, grant) = try refreshToken(token), grant.issuer == issuer.name, grant.clientId == client.id else {
            throw OAuthRefusal("invalid_grant", "The refresh token is unknown for this client or has expired. \(Self.again)")
        }
        if let scope = form["scope"] {
            let missing = grant.scopes.lacking(Scopes(scope).names)
            if !missing.isEmpty { throw OAuthRefusal("invalid_scope", "\(missing.joined(separator: " ")) was not granted at sign-in.") }
            grant = grant.with(Scopes(scope))
        }
        grant.audience = try issuer.audience(in: form, asGrantedIn: grant)
        if let key = grant.thumbprint, key != client.thumbprint {
            throw OAuthRefusal("invalid_grant", "The refresh token is bound to another key: send a DPoP proof of that key (RFC 9449 5).")
        }
        grant.thumbprint = client.thumbprint
        let (fresh, key) = (session.completion.fresh(), try signingKey(of: issuer, at: now))
        let attempt = SessionService.RefreshCall(method: TestIdp.info.name, call: InProcessCall(), now: now, secrets: fresh)
        let outcome = try context.database.write { try session.rotate(.init(refreshToken: token), by: attempt, in: $0) }
        let signedIn = try outcome.get().0
        return try answer(
            GrantedSession(
                standing: Standing(account: signedIn.account, session: signedIn.session), grant: grant, refreshToken: fresh.refreshToken),
            of: issuer, key, at: now)
    }

    /// Returns the signing key of an issuer. Call it before marking a credential as used, because the store may be busy.
    func signingKey(of issuer: ProviderIssuer, at now: Int64) throws -> StoredKey {
        try SignInCompletion(context, configurations).signingKey(of: issuer.tenant, at: now)
    }

    /// An active session and its account.
    struct Standing: Sendable {
        let account: AccountRecord
        let session: SessionRecord
    }

    func standing(of sessionId: String, at now: Int64) throws -> Standing? {
        try context.database.read { tx in
            guard let session = try tx.session(sessionId), session.expiresAt > now, let account = try tx.account(session.accountId),
                !account.isDisabled
            else { return nil }
            return Standing(account: account, session: session)
        }
    }

    /// Ends a session of the tenant.
    func endSession(_ id: String) throws {
        let (session, now) = (SessionService(context, configurations), context.clock.now)
        memory.withLock { _ = $0.grants.removeValue(forKey: id) }
        _ = try context.database.write { try session.end(id, TestIdp.info.name, InProcessCall(), at: now, in: $0) }
    }
}
