import Accounts
import Contract
import JSON
import Loopback
import Platform
import ServiceContext

extension TestProvider {
    /// Ends a browser's login and its sessions (OpenID Connect RP-Initiated Logout 1.0).
    func logOut(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        try refuseElsewhere(request)
        let isConfirmed = request.form["step"] == "logout"
        let parameters = request.method == "POST" && !isConfirmed && !request.form.isEmpty ? request.form : request.query
        if let name = parameters.repeated.first { throw OAuthRefusal("invalid_request", "\(name) occurs twice.") }
        if let due = memory.withLock({ $0.nextError(of: issuer.name, at: .logout) }) { throw OAuthRefusal(due) }
        let hint = try parameters["id_token_hint"].map { try hinted($0, at: issuer) }
        let back = try backAfterLogout(parameters, hint, at: issuer)
        let cookie = request.cookie(Self.cookieName(issuer))
        let login = cookie.flatMap { cookie in memory.withLock { $0.logins[cookie] } }
        let hintedSession = hint?["sid"]?.string
        // Without a matching `id_token_hint` the user must confirm, so that another site cannot sign the user out.
        guard isConfirmed || login == nil || hintedSession.map({ login?.sessions.contains($0) ?? false }) == true else {
            let action = Markup.escaped("?\(parameters.text)")
            return HTMLPage(
                title: "Sign out?",
                content: """
                    <p>You are signed in as \(Markup.escaped(login?.username ?? "")).</p>
                    <form method="post" action="\(action)"><input type="hidden" name="step" value="logout"><button>Sign out</button></form>
                    """, style: LoginPage.style, formAction: nil, referrerPolicy: "same-origin"
            ).response
        }
        let hintedLogin = hintedSession.flatMap { session in memory.withLock { $0.grants[session]?.loginId } }
        let sessions = memory.withLock { memory in
            [hintedLogin, cookie].compactMap(\.self).flatMap { memory.logins.removeValue(forKey: $0)?.sessions ?? [] }
        }
        for id in Set(sessions + [hintedSession].compactMap(\.self)) { try endSession(id) }
        let gone = "\(Self.cookieName(issuer))=; Path=/\(issuer.name)/; Max-Age=0; HttpOnly; SameSite=Lax"
        guard let back else {
            return HTMLPage(title: "You are signed out", sign: .fine, content: "<p>You can close this window.</p>").response
                .adding([("set-cookie", gone)])
        }
        return LoopbackResponse(redirect: back, afterForm: request.method == "POST", cookie: gone)
    }

    /// Returns the URI to redirect to after the logout, or `nil` if none is requested.
    private func backAfterLogout(
        _ parameters: ProviderParameters, _ hint: JSONObject?, at issuer: ProviderIssuer
    ) throws -> String? {
        guard let uri = parameters["post_logout_redirect_uri"] else { return nil }
        guard let clientId = parameters["client_id"] ?? hint?["aud"]?.string else {
            throw OAuthRefusal("invalid_request", "post_logout_redirect_uri requires an id_token_hint or a client_id.")
        }
        if let given = parameters["client_id"], let audience = hint?["aud"]?.string, given != audience {
            throw OAuthRefusal("invalid_request", "id_token_hint is a token of another client than \(given).")
        }
        if let flaw = AuthorizeRequest.flaw(of: uri) { throw OAuthRefusal("invalid_request", "post_logout_redirect_uri \(flaw)") }
        let known = try issuer.client(clientId)
        guard let known, known.isOpen || known.settings.knows(redirectUri: uri) else {
            throw OAuthRefusal(
                "invalid_request",
                "The client \(clientId) has no redirect URI \(uri). Add it to its redirectUris in test.idp; the comparison is exact.")
        }
        guard let state = parameters["state"] else { return uri }
        return uri + (uri.contains("?") ? "&" : "?") + Form.encode([("state", state)])
    }
}
