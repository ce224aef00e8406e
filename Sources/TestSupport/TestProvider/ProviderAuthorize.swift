import Accounts
import Contract
import Crypto
import Loopback
import Platform
import ServiceContext

extension TestProvider {
    /// The authorization endpoint: shows the login page, processes its forms and redirects to the client (OpenID Connect Core §3.1.2).
    func authorize(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        let isLogin = request.form["step"] != nil
        try refuseElsewhere(request)
        let parameters = request.method == "POST" && !isLogin && !request.form.isEmpty ? request.form : request.query
        let asked = try authorizeRequest(parameters, of: issuer, isLogin: isLogin)
        do {
            try asked.check(for: issuer)
            if !isLogin, let due = memory.withLock({ $0.nextError(of: issuer.name, at: .authorize) }) { throw OAuthRefusal(due) }
            if request.form["step"] == "refuse" { throw OAuthRefusal("access_denied", "The user canceled the sign-in.") }
            let expected = try expected(asked, at: issuer)
            if isLogin { return try logIn(to: issuer, .client(asked, expected), request.form) }
            if let (id, login) = try usableLogin(of: issuer, asked, expected, request) {
                let session = try beginSession(of: login.accountId, issuer.tenant, login.proof)
                memory.withLock { $0.logins[id]?.sessions.append(session.id) }
                return try sendBack(asked, of: issuer, session, loginId: id)
            }
            if let session = try chosenSession(at: issuer) { return try welcome(session, to: issuer, .client(asked, expected)) }
            if asked.prompts.contains("none") {
                throw OAuthRefusal("login_required", "No user with a suitable session is signed in.")
            }
            let errand = LoginPurpose.client(asked, expected)
            return LoginPage(issuer, errand, .address(errand.loginHint), people: try people(of: issuer)).response
        } catch {
            // A response with status 500 or 503 does not return the browser to the client (RFC 6749 §4.1.2.1).
            let refusal = failures.refusal(for: error, of: request.whole)
            if refusal.status < 500 { _ = spend(asked) }
            var answer = [("error", refusal.code)]
            if let words = refusal.words { answer.append(("error_description", words)) }
            return sendBack(asked, of: issuer, answer, afterForm: isLogin)
        }
    }

    /// Rejects forms of these pages that were submitted from another site.
    func refuseElsewhere(_ request: ProviderRequest) throws {
        guard request.form["step"] != nil, request.isFromElsewhere else { return }
        throw OAuthRefusal("invalid_request", "The form was sent from another site.", status: 403)
    }

    /// Returns the browser's login if it satisfies the request and its sessions have not ended.
    private func usableLogin(
        of issuer: ProviderIssuer, _ asked: AuthorizeRequest, _ expected: LoginHint?, _ request: ProviderRequest
    ) throws -> (id: String, login: ProviderState.Login)? {
        guard asked.prompts.isDisjoint(with: ["login", "select_account"]), let id = request.cookie(Self.cookieName(issuer)),
            let login = memory.withLock({ $0.logins[id] }), login.issuer == issuer.name
        else { return nil }
        if let hint = asked.parameters["login_hint"], Username.fold(hint) != Username.fold(login.username) { return nil }
        if let expected, expected.accountId != login.accountId { return nil }
        if !asked.takes(authenticatedAt: login.proof.authenticatedAt, at: context.clock.now) { return nil }
        let ended = try context.database.read { tx -> Int? in
            guard let account = try tx.account(login.accountId), !account.isDisabled else { return nil }
            return try login.sessions.firstIndex { try tx.session($0) != nil }
        }
        guard let ended else { return nil }
        let gone = Set(login.sessions.prefix(ended))
        if !gone.isEmpty { memory.withLock { $0.logins[id]?.sessions.removeAll { gone.contains($0) } } }
        return (id, login)
    }

    /// A new session of the tenant, with its refresh token.
    struct NewSession: Sendable {
        let id: String
        let accountId: String
        let username: String
        let proof: SignInProof
        let refreshToken: String
    }

    /// Starts a session for an authenticated account.
    func beginSession(of accountId: String, _ tenant: TenantRecord, _ proof: SignInProof) throws -> NewSession {
        let completion = SignInCompletion(context, configurations)
        let attempt = completion.signInCall(of: TestIdp.info.name, InProcessCall(), at: context.clock.now)
        let signedIn = try attempt.gate.write { tx in
            guard let account = try tx.account(accountId) else { throw try tx.absence(of: accountId) }
            return try completion.begin(account, of: tenant, proof: proof, by: attempt, in: tx)
        }
        return NewSession(
            id: signedIn.session.id, accountId: accountId, username: signedIn.account.username ?? accountId, proof: signedIn.session.proof,
            refreshToken: attempt.secrets.refreshToken)
    }

    /// Completes a login and sets the cookie that identifies the browser.
    ///
    /// - Throws: `OAuthRefusal` with `login_required` if the user is not the one in `id_token_hint` (OpenID Connect Core §3.1.2.2).
    func welcome(_ session: NewSession, to issuer: ProviderIssuer, _ errand: LoginPurpose) throws -> LoopbackResponse {
        if let expected = errand.expected, expected.accountId != session.accountId {
            try endSession(session.id)
            throw OAuthRefusal("login_required", "Another user than the one in id_token_hint has signed in.")
        }
        let id = Base64URL.encode(context.random.bytes(24))
        memory.withLock {
            $0.logins[id] = ProviderState.Login(
                issuer: issuer.name, accountId: session.accountId, username: session.username, proof: session.proof,
                sessions: [session.id])
        }
        let cookie = "\(Self.cookieName(issuer))=\(id); Path=/\(issuer.name)/; HttpOnly; SameSite=Lax"
        switch errand {
        case .client(let asked, _): return try sendBack(asked, of: issuer, session, loginId: id, cookie: cookie)
        case .device(let userCode, _):
            settle(userCode, of: issuer, .approved(sessionId: session.id, refreshToken: session.refreshToken))
            return HTMLPage(
                title: "The device is signed in", sign: .fine, content: "<p>You can close this window and continue on the device.</p>"
            ).response.adding([("set-cookie", cookie)])
        }
    }

    static func cookieName(_ issuer: ProviderIssuer) -> String { "mintmark_\(issuer.name)" }

    /// - Parameter cookie: The cookie that the form of a new login sets; `nil` if the browser has logged in before.
    private func sendBack(
        _ asked: AuthorizeRequest, of issuer: ProviderIssuer, _ session: NewSession, loginId: String, cookie: String? = nil
    ) throws -> LoopbackResponse {
        guard spend(asked) else {
            try endSession(session.id)
            throw OAuthRefusal("invalid_request_uri", "The request_uri was already used. Push the authorization request again (RFC 9126).")
        }
        var grant = try asked.grant(of: issuer, loginId: loginId)
        grant.thumbprint = asked.parameters["dpop_jkt"]
        let code = Base64URL.encode(context.random.bytes(24))
        let now = context.clock.now
        memory.withLock { [grant] in
            $0.keep(
                ProviderState.Code(
                    grant: grant, redirectUri: asked.redirectUri, challenge: asked.challenge,
                    nonce: asked.parameters["nonce"], sessionId: session.id, refreshToken: session.refreshToken,
                    expiresAt: now + ProviderState.codeSeconds), as: code, at: now)
        }
        return sendBack(asked, of: issuer, [("code", code)], afterForm: cookie != nil, cookie: cookie)
    }

    /// Redirects the user to the client (RFC 6749 §4.1.2, RFC 9207, OAuth 2.0 Form Post Response Mode).
    private func sendBack(
        _ asked: AuthorizeRequest, of issuer: ProviderIssuer, _ answer: [(String, String)], afterForm: Bool, cookie: String? = nil
    ) -> LoopbackResponse {
        let parameters = answer + (asked.state.map { [("state", $0)] } ?? []) + [("iss", issuer.url)]
        switch asked.responseMode {
        case .query:
            let separator = asked.redirectUri.contains("?") ? "&" : "?"
            return LoopbackResponse(
                redirect: asked.redirectUri + separator + Form.encode(parameters), afterForm: afterForm, cookie: cookie)
        case .formPost:
            let nonce = Base64URL.encode(context.random.bytes(12))
            let page = LoginPage.formPost(to: asked.redirectUri, parameters, nonce: nonce)
            return page.adding(cookie.map { [("set-cookie", $0)] } ?? [])
        }
    }
}
