import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// The user as this API shows it.
extension FirebaseCall {
    /// The members of a user that only this API knows.
    static let flags = "user"

    func flags(of account: AccountRecord, in tx: Transaction) throws -> JSONObject {
        let flags = try tx.vendorRecord(tenantId, Self.flags, account.id) ?? [:]
        // A later account with the same ID is another user.
        return flags["createdAt"]?.int == account.createdAt ? flags : ["createdAt": .number(JSONNumber(account.createdAt))]
    }

    /// Changes the members of a user that only this API knows.
    func setFlags(of account: AccountRecord, _ change: (inout JSONObject) -> Void) throws {
        try context.database.write { tx in
            var flags = try flags(of: account, in: tx)
            change(&flags)
            try tx.setVendorRecord(tenantId, Self.flags, account.id, value: flags)
        }
    }

    /// - Parameter isOwn: Whether the user asks, who does not see the password hash.
    func describe(_ facts: AccountFacts, isOwn: Bool) throws -> JSONObject {
        let account = facts.account
        let flags = try context.database.read { try self.flags(of: account, in: $0) }
        var user: JSONObject = ["localId": .string(account.id)]
        if let email = account.email { user["email"] = .string(Username.fold(email)) }
        user["emailVerified"] = .bool(account.isEmailVerified)
        user["displayName"] = account.attributes["displayName"]
        user["photoUrl"] = account.attributes["picture"]
        user["phoneNumber"] = facts.phoneNumber.map { .string($0) }
        user["disabled"] = .bool(account.isDisabled)
        user["createdAt"] = .string("\(account.createdAt * 1000)")
        user["lastLoginAt"] = account.lastSignInAt.map { .string("\($0 * 1000)") }
        // An import sets the time of a sign-in, which does not stand for a refresh.
        let signedInAt = account.lastSignInAt == flags["importedSignInAt"]?.int ? nil : account.lastSignInAt
        if let moment = flags["lastRefreshAt"]?.int ?? signedInAt { user["lastRefreshAt"] = .string(Self.rfc3339(moment)) }
        user["validSince"] = .string("\(max(account.validAfter, account.validAfter == 0 ? account.createdAt : 0))")
        if let sealed = account.password {
            let hashed = isOwn ? nil : try context.passwords.hashed(sealed, as: account.id)
            user["passwordHash"] = .string(hashed.map { Base64URL.encode($0.hash) } ?? "UkVEQUNURUQ=")
            if let hashed { user["salt"] = .string(Base64URL.encode(hashed.salt)) }
            user["passwordUpdatedAt"] = .number(JSONNumber((flags["passwordUpdatedAt"]?.int ?? account.createdAt) * 1000))
            user["version"] = 0
        }
        if !account.claims.isEmpty { user["customAttributes"] = .string(JSONValue.object(account.claims).text) }
        for name in ["customAuth", "emailLinkSignin", "initialEmail", "screenName"] { user[name] = flags[name] }
        user["tenantId"] = firebaseTenant.map { .string($0) }
        let providers = providers(facts, signsInByLink: flags["emailLinkSignin"] == true)
        if !providers.isEmpty { user["providerUserInfo"] = .array(providers.map { .object($0) }) }
        if !facts.factors.isEmpty { user["mfaInfo"] = .array(facts.factors.map { .object(Self.factor($0)) }) }
        return user
    }

    private func providers(_ facts: AccountFacts, signsInByLink: Bool) -> [JSONObject] {
        let account = facts.account
        func entry(_ id: String, _ subject: String, _ name: JSONValue?, photo: JSONValue?) -> JSONObject {
            var entry: JSONObject = ["providerId": .string(id), "rawId": .string(subject), "federatedId": .string(subject)]
            entry["displayName"] = name
            entry["photoUrl"] = photo
            return entry
        }
        var all = facts.logins.map { login in
            var entry = entry(
                login.providerId, login.subject, login.displayName.map { .string($0) }, photo: login.photoUrl.map { .string($0) })
            entry["email"] = login.email.map { .string($0) }
            return entry
        }
        if let email = account.email.map(Username.fold), account.password != nil || signsInByLink {
            var own = entry("password", email, account.attributes["displayName"], photo: account.attributes["picture"])
            own["email"] = .string(email)
            all.append(own)
        }
        if let number = facts.phoneNumber {
            all.append(["providerId": "phone", "rawId": .string(number), "phoneNumber": .string(number)])
        }
        return all
    }

    /// Returns a second factor as this API shows it.
    static func factor(_ factor: FactorRecord) -> JSONObject {
        var shown: JSONObject = ["mfaEnrollmentId": .string(factor.id), "enrolledAt": .string(rfc3339(factor.enrolledAt))]
        shown["displayName"] = factor.displayName.map { .string($0) }
        switch factor.kind {
        case .sms: (shown["phoneInfo"], shown["unobfuscatedPhoneInfo"]) = (.string(factor.target ?? ""), .string(factor.target ?? ""))
        case .totp: shown["totpInfo"] = [:]
        // Firebase has no form for passkeys.
        case .passkey: break
        case .email: shown["emailInfo"] = ["emailAddress": .string(factor.target ?? "")]
        }
        return shown
    }

    /// Returns a time in seconds since 1970 as RFC 3339, by the calendar of proleptic Gregorian days.
    static func rfc3339(_ seconds: Int64) -> String {
        let days = seconds / 86_400 + 719_468
        let (era, time) = (days / 146_097, seconds % 86_400)
        let day = days - era * 146_097
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let ofYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let (dayOfMonth, number) = (ofYear - (153 * month + 2) / 5 + 1, month < 10 ? month + 3 : month - 9)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let full = year + era * 400 + (number <= 2 ? 1 : 0)
        return "\(full)-\(two(number))-\(two(dayOfMonth))T\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60))Z"
    }

    /// Starts a session and returns its tokens.
    ///
    /// - Parameters:
    ///   - asksHooks: Whether the hook `beforeSignIn` decides. As in Firebase, it does not decide about anonymous users, custom tokens, and
    ///     users who are already signed in and change their password or factors.
    ///   - details: The facts about the credential of an identity provider that blocking functions get.
    func startSession(
        _ accountId: String, _ proof: SignInProof, asksHooks: Bool = true, details: JSONObject = [:]
    ) throws -> JSONObject {
        let session = try service.signIn.startSession(
            of: accountId, as: proof, by: Self.method, hookDetails: asksHooks ? details : nil, call)
        return try tokens(of: session)
    }

    /// Returns the tokens of a session that has just started.
    func tokens(of started: StartedSession) throws -> JSONObject {
        guard let facts = try facts(started.accountId),
            let session = try context.database.read({ try $0.session(started.sessionId) })
        else { throw FirebaseError("USER_NOT_FOUND") }
        let now = now
        let claims = tokens.claims(facts, session, firebaseTenant: firebaseTenant, at: now)
        try setFlags(of: facts.account) { $0["lastRefreshAt"] = .number(JSONNumber(now)) }
        return [
            "idToken": .string(try token(claims, for: .token)),
            "refreshToken": .string("\(started.refreshToken).\(Base64URL.encode(Array(started.accountId.utf8)))"),
            "expiresIn": .string("\(FirebaseTokens.lifetimeSeconds)"), "localId": .string(started.accountId),
        ]
    }

    /// Exchanges a refresh token. It stays valid, because several clients of one user can have it.
    func token() throws -> JSONObject {
        try requireEnabled()
        guard let grant = try body.filled("grantType") else { throw FirebaseError("MISSING_GRANT_TYPE") }
        guard grant == "refresh_token" else { throw FirebaseError("INVALID_GRANT_TYPE") }
        guard let token = try body.filled("refreshToken") else { throw FirebaseError("MISSING_REFRESH_TOKEN") }
        let parts = token.split(separator: ".")
        guard parts.count == 2, let id = Base64URL.decode(String(parts[1])).map({ String(decoding: $0, as: UTF8.self) }) else {
            throw FirebaseError("INVALID_REFRESH_TOKEN")
        }
        guard let account = try context.database.read({ try $0.account(id) }) else { throw FirebaseError("INVALID_REFRESH_TOKEN") }
        if account.isDisabled { throw FirebaseError("USER_DISABLED") }
        let session: SessionRecord?
        do { session = try service.signIn.session(ofRefreshToken: String(parts[0])) } catch is RefreshTokenExpired {
            throw FirebaseError("TOKEN_EXPIRED")
        }
        guard let session, session.accountId == id else { throw FirebaseError("TOKEN_EXPIRED") }
        guard account.tenantId == project || account.tenantId.hasPrefix("\(project).") else { throw FirebaseError("INVALID_REFRESH_TOKEN") }
        let tenant = account.tenantId == project ? nil : String(account.tenantId.dropFirst(project.count + 1))
        if let tenant, try copy(tenant: tenant).switches().isDisabled { throw FirebaseError("PROJECT_DISABLED") }
        let facts = try context.database.read { try AccountFacts(account, in: $0) }
        try (tenant.map { copy(tenant: $0) } ?? self).requireFactor(facts, in: session)
        let claims = tokens.claims(facts, session, firebaseTenant: tenant, at: now)
        let idToken = JSONValue.string(try self.token(claims, for: .token))
        return [
            "id_token": idToken, "access_token": idToken, "expires_in": .string("\(FirebaseTokens.lifetimeSeconds)"),
            "refresh_token": .string(token), "token_type": "Bearer", "user_id": .string(id), "project_id": "12345",
        ]
    }
}
