import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// Sign-in with a password and with a custom token.
extension FirebaseCall {
    func signInWithPassword() throws -> JSONObject {
        let tenant = try tenantRecord()
        if try !switches().allowsPassword { throw FirebaseError("PASSWORD_LOGIN_DISABLED") }
        guard body.has("email") else { throw FirebaseError("MISSING_EMAIL") }
        let email = try body.text("email") ?? ""
        guard (try? Username(email)) != nil else { throw FirebaseError("INVALID_EMAIL") }
        guard let password = try body.filled("password") else { throw FirebaseError("MISSING_PASSWORD") }
        let account = try account(email: email)
        if let account, account.isDisabled { throw FirebaseError("USER_DISABLED") }
        let outcome = try outcome(of: password, email, tenant)
        try requireUpgraded(password, outcome)
        var answer: JSONObject
        switch outcome {
        case .signedIn(let session): answer = try tokens(of: session)
        case .pending:
            try requireFactor(of: account.flatMap { try facts($0.id) }, after: .password)
            answer = try pending(account?.id ?? "", provider: "password")
        }
        answer["kind"] = "identitytoolkit#VerifyPasswordResponse"
        answer["registered"] = true
        answer["email"] = .string(Username.fold(email))
        answer["displayName"] = account?.attributes["displayName"] ?? ""
        return answer
    }

    /// Verifies a password with the rules of a sign-in.
    private func outcome(of password: String, _ email: String, _ tenant: TenantRecord) throws -> PasswordOutcome {
        do {
            return try service.signIn.start(
                SignInWithPassword.Params(tenantId: tenantId, username: email, password: password, client: client), call)
        } catch let error as any ContractError {
            let error = FirebaseError(error)
            let isWrong = error.message == "EMAIL_NOT_FOUND" || error.message == "INVALID_PASSWORD"
            throw tenant.enumerationProtection && isWrong ? FirebaseError("INVALID_LOGIN_CREDENTIALS") : error
        }
    }

    /// Replaces the password of a user who knows the present one (`accounts:resetPassword` without a code). All sessions end.
    func replacePassword() throws -> JSONObject {
        let tenant = try tenantRecord()
        guard let email = try body.filled("email") else { throw FirebaseError("MISSING_EMAIL") }
        guard (try? Username(email)) != nil else { throw FirebaseError("INVALID_EMAIL") }
        guard let old = try body.filled("oldPassword"), let new = try body.filled("newPassword") else {
            throw FirebaseError("MISSING_PASSWORD")
        }
        let outcome = try outcome(of: old, email, tenant)
        guard case .signedIn(let session) = outcome else {
            throw FirebaseError("OPERATION_NOT_ALLOWED : The user has a second factor. Sign in with it, then use accounts:update.")
        }
        _ = try context.database.write { try $0.deleteSession(session.sessionId) }
        try requireStrong(new)
        var change = AccountUpdate.Params(accountId: session.accountId)
        change.password = new
        _ = try service.account.update(change, by: Self.method, call)
        return [
            "kind": "identitytoolkit#ResetPasswordResponse", "requestType": "PASSWORD_RESET", "email": .string(Username.fold(email)),
        ]
    }

    /// - Throws: `FirebaseError` if the right password does not meet a policy that users must meet to sign in. The session ends.
    private func requireUpgraded(_ password: String, _ outcome: PasswordOutcome) throws {
        guard let policy = try configuredPolicy(), policy.forcesUpgrade else { return }
        do { try policy.check(password) } catch {
            if case .signedIn(let session) = outcome { _ = try context.database.write { try $0.deleteSession(session.sessionId) } }
            throw error
        }
    }

    /// The answer to a sign-in that needs a second factor. Phone numbers are masked but for the last four digits.
    ///
    /// - Parameter identity: The identity to link after the second factor was verified.
    func pending(_ id: String, provider: String, linking identity: FirebaseIdentity? = nil) throws -> JSONObject {
        let factors = try context.database.read { try $0.factors(of: id) }
        let shown = factors.map { factor -> JSONValue in
            var shown = Self.factor(factor)
            shown["unobfuscatedPhoneInfo"] = nil
            if let number = factor.target, factor.kind == .sms {
                let hidden = max(0, number.count - 5)
                shown["phoneInfo"] = .string("+" + String(repeating: "*", count: hidden) + number.suffix(4))
            }
            return .object(shown)
        }
        return [
            "localId": .string(id), "mfaPendingCredential": .string(try remember(pending: id, provider: provider, linking: identity)),
            "mfaInfo": .array(shown),
        ]
    }

    func signInWithCustomToken() throws -> JSONObject {
        _ = try tenantRecord()
        guard let token = try body.filled("token") else { throw FirebaseError("MISSING_CUSTOM_TOKEN") }
        let (id, session) = try endpoint.isTest ? readCustomToken(token) : verifyCustomToken(token)
        let present = try facts(id)
        if present == nil {
            var new = NewAccount(tenantId: tenantId)
            new.accountId = id
            _ = try service.account.create(new, by: Self.method, call)
        }
        var answer = try startSession(id, SignInProof(amr: [], provider: SignInProof.customProvider, claims: session), asksHooks: false)
        if let account = try facts(id)?.account { try setFlags(of: account) { $0["customAuth"] = true } }
        answer["kind"] = "identitytoolkit#VerifyCustomTokenResponse"
        answer["isNewUser"] = .bool(present == nil)
        return answer
    }

    private static let customTokenAudience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    /// Returns the user and the session claims of a custom token whose signature is not verified, as at the emulator.
    private func readCustomToken(_ token: String) throws -> (id: String, claims: JSONObject) {
        guard let claims = FirebaseTokens.claims(of: token) else {
            throw FirebaseError("INVALID_CUSTOM_TOKEN : ((The custom token is neither a JWT nor a JSON object.))")
        }
        if !token.hasPrefix("{"), claims["aud"]?.string != Self.customTokenAudience {
            throw FirebaseError("INVALID_CUSTOM_TOKEN : ((Invalid aud (audience): \(claims["aud"]?.string ?? "none").))")
        }
        // A number is accepted in place of a text, as at the emulator.
        guard let id = try FirebaseInput(claims).filled(claims["uid"] == nil ? "userId" : "uid") else {
            throw FirebaseError("MISSING_IDENTIFIER")
        }
        if id.unicodeScalars.count > 128 { throw FirebaseError("INVALID_CUSTOM_TOKEN : ((The uid is longer than 128 characters.))") }
        if let tenant = claims["tenant_id"]?.string, tenant != firebaseTenant { throw FirebaseError("TENANT_ID_MISMATCH") }
        guard let given = claims["claims"], given != .null else { return (id, [:]) }
        guard let session = given.object else { throw FirebaseError("INVALID_CLAIMS") }
        if let name = session.names.first(where: FirebaseTokens.reserved.contains) { throw FirebaseError("FORBIDDEN_CLAIM : \(name)") }
        return (id, session)
    }

    /// Returns the user and the session claims of a custom token that one of the tenant's signers has signed.
    private func verifyCustomToken(_ token: String) throws -> (id: String, claims: JSONObject) {
        if let tenant = FirebaseTokens.claims(of: token)?["tenant_id"], tenant.string != firebaseTenant {
            throw FirebaseError("TENANT_ID_MISMATCH")
        }
        let made = try CustomToken(
            token, signers: tenantRecord().settings.customTokenSigners ?? [], tenantId: firebaseTenant ?? "",
            audience: Self.customTokenAudience, now: now)
        if let owner = try context.database.read({ try $0.account(made.accountId) }), owner.tenantId != tenantId {
            throw FirebaseError("INVALID_CUSTOM_TOKEN : ((The uid is the ID of a user of another tenant.))")
        }
        return (made.accountId, made.claims)
    }

    /// Exchanges an ID token for a session cookie.
    func createSessionCookie() throws -> JSONObject {
        guard isAdmin else { throw FirebaseError.noCredential }
        let duration = try body.integer("validDuration") ?? 1_209_600
        guard (300...1_209_600).contains(duration) else { throw FirebaseError("INVALID_DURATION") }
        var claims = try user().claims
        claims["iss"] = .string(FirebaseTokens.Issuer.cookie.rawValue + project)
        claims["iat"] = .number(JSONNumber(now))
        claims["exp"] = .number(JSONNumber(now + duration))
        return ["sessionCookie": .string(try token(claims, for: .cookie))]
    }

    /// The older address of the same calls.
    func older() throws -> JSONObject {
        let parts = path.path.split(separator: "/")
        guard parts.count == 5, parts[1] == "identitytoolkit", parts[2] == "v3", parts[3] == "relyingparty" else {
            throw FirebaseError.notFound
        }
        let names = [
            "deleteAccount": "delete", "emailLinkSignin": "signInWithEmailLink", "getAccountInfo": "lookup",
            "getOobConfirmationCode": "sendOobCode", "setAccountInfo": "update", "signupNewUser": "signUp",
            "verifyAssertion": "signInWithIdp", "verifyCustomToken": "signInWithCustomToken", "verifyPassword": "signInWithPassword",
            "verifyPhoneNumber": "signInWithPhoneNumber", "downloadAccount": "batchGet", "uploadAccount": "batchCreate",
        ]
        let name = String(parts[4])
        switch name {
        case "getProjectConfig": return publicConfiguration()
        case "getRecaptchaParam": return Self.recaptcha
        case "signOutUser", "setProjectConfig": throw FirebaseError.notOffered(name)
        default:
            try requireEnabled()
            return try accounts(names[name] ?? name)
        }
    }
}
