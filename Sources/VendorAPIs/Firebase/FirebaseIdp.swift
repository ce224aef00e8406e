import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// The user as an identity provider describes them.
struct FirebaseIdentity {
    let providerId: String
    let subject: String
    var email: String?
    /// Whether the provider is trusted to have verified the address. In compat.http never for Facebook, Twitter and GitHub.
    let isTrusted: Bool
    let claims: JSONObject
    /// Replaces the credential in a later request, because it may be usable only once.
    var pendingToken: String?

    var displayName: String? { (claims["name"] ?? claims["displayName"] ?? claims["display_name"])?.string }
    var screenName: JSONValue? { claims["screen_name"] ?? claims["login"] }
    var photoUrl: String? { (claims["picture"] ?? claims["photoUrl"] ?? claims["photo_url"])?.string }

    var login: PortableLogin {
        PortableLogin(providerId: providerId, subject: subject, email: email, displayName: displayName, photoUrl: photoUrl)
    }

    init(_ identity: VerifiedIdentity) {
        (providerId, subject, claims) = (identity.providerId, identity.subject, identity.claims)
        (email, isTrusted, pendingToken) = (identity.email, identity.isEmailTrusted, identity.pendingToken)
    }

    /// The members of a stored identity.
    var object: JSONObject {
        var object: JSONObject = [
            "providerId": .string(providerId), "subject": .string(subject), "trusted": .bool(isTrusted), "claims": .object(claims),
        ]
        object["email"] = email.map { .string($0) }
        return object
    }

    /// - Returns: `nil` if the object is not a stored identity.
    init?(_ object: JSONObject) {
        guard let providerId = object["providerId"]?.string, let subject = object["subject"]?.string,
            let isTrusted = object["trusted"]?.bool, let claims = object["claims"]?.object
        else { return nil }
        (self.providerId, self.subject, self.isTrusted, self.claims) = (providerId, subject, isTrusted, claims)
        email = object["email"]?.string
    }

    /// Reads a credential without verifying it, as the emulator does.
    init(_ form: [String: String]) throws {
        guard let providerId = form["providerId"]?.lowercased(), !providerId.isEmpty else {
            throw FirebaseError("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential.")
        }
        guard let token = form["id_token"] ?? form["access_token"] else {
            throw FirebaseError("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: id_token or access_token is needed.")
        }
        guard let claims = FirebaseTokens.claims(of: token) else {
            throw FirebaseError("INVALID_IDP_RESPONSE : Unable to parse the credential.")
        }
        guard let subject = (claims["sub"] ?? claims["uid"] ?? claims["id"])?.string, !subject.isEmpty else {
            throw FirebaseError("INVALID_IDP_RESPONSE : Invalid Idp Response: id_token missing required fields.")
        }
        // Apple also sends the text "true".
        let isVerified = ["email_verified", "emailVerified", "verified_email"].contains { claims[$0] == true || claims[$0] == "true" }
        self.providerId = providerId
        self.subject = subject
        self.claims = claims
        email = claims["email"]?.string.map(Username.fold)
        // The test decides which addresses are verified, as in the emulator. In compat.http, the provider decides.
        isTrusted = providerId == "apple.com" || isVerified
    }
}

/// Sign-in with the credential of an identity provider.
extension FirebaseCall {
    func signInWithIdp() throws -> JSONObject {
        let tenant = try tenantRecord()
        guard let uri = try body.filled("requestUri") else { throw FirebaseError("MISSING_REQUEST_URI") }
        guard Self.isAbsolute(uri) else { throw FirebaseError("INVALID_REQUEST_URI") }
        let (query, fragment) = (WireRequest(method: "GET", url: uri, headers: [], body: ""), uri.split(separator: "#").dropFirst().first)
        let post = WireRequest(method: "GET", url: "/?" + (try body.filled("postBody") ?? ""), headers: [], body: "")
        let last = WireRequest(method: "GET", url: "/?" + (fragment ?? ""), headers: [], body: "")
        var form: [String: String] = [:]
        for (name, value) in query.parameters + post.parameters + last.parameters { form[name] = value }
        if let refusal = Self.refusal(of: form["providerId"]?.lowercased() ?? "") { throw refusal }
        let identity = try endpoint.isTest ? FirebaseIdentity(form) : verifiedIdentity(form)
        try requireProvider(identity.providerId)
        let caller = try body.has("idToken") ? user() : nil
        let owner = try context.database.read { try $0.owner(ofLogin: identity.subject, at: identity.providerId, in: tenantId) }
        let isOnePerAddress = tenant.settings.oneAccountPerAddress
        let holder = try isOnePerAddress ? identity.email.flatMap { try account(email: $0) } : nil
        var answer = shown(identity, form)
        let details = Self.hookDetails(answer, form)
        let id: String
        var isNew = false
        var waiting: FirebaseIdentity?
        var proof = SignInProof(amr: ["fed"], provider: identity.providerId)
        if let caller { proof = continued(caller, amr: proof.amr, provider: proof.provider) }
        func requireFactor(of id: String?) throws { try self.requireFactor(of: id.flatMap { try facts($0) }, after: proof) }
        if let caller {
            if owner != nil { return try refused("FEDERATED_USER_ID_ALREADY_LINKED", answer) }
            if let holder, holder.id != caller.account.id { return try refused("EMAIL_EXISTS", answer) }
            try requireFactor(of: caller.account.id)
            try link(identity, to: caller.account, fillsAddress: isOnePerAddress)
            id = caller.account.id
        } else if let owner {
            id = owner
            if let account = try facts(owner)?.account, account.isDisabled { throw FirebaseError("USER_DISABLED") }
            try requireFactor(of: owner)
            var change = AccountUpdate.Params(accountId: owner)
            change.link = [identity.login]
            _ = try service.account.update(change, by: Self.method, call)
        } else if let holder {
            if holder.isDisabled { throw FirebaseError("USER_DISABLED") }
            guard try canTake(identity, holder, tenant) else { return try needsConfirmation(holder, answer) }
            try requireFactor(of: holder.id)
            if try isRecycled(identity, holder) { answer["emailRecycled"] = true }
            // Nothing is linked before the second factor of the account was verified.
            let mustWait = try facts(holder.id).map { try needsFactor($0) } ?? false
            if mustWait { waiting = identity } else { try take(identity, by: holder) }
            id = holder.id
        } else {
            if try body.flag("autoCreate") == false { throw FirebaseError("USER_NOT_FOUND") }
            try requireSignUp()
            try requireFactor(of: nil)
            id = try create(identity, withAddress: isOnePerAddress, details: details)
            isNew = true
        }
        guard let facts = try facts(id) else { throw FirebaseError("USER_NOT_FOUND") }
        answer["emailVerified"] = .bool(facts.account.email == identity.email ? facts.account.isEmailVerified : identity.isTrusted)
        if isOnePerAddress, let email = facts.account.email, let theirs = identity.email, Username.fold(email) != theirs {
            answer["originalEmail"] = .string(Username.fold(email))
        }
        let session =
            try caller == nil && needsFactor(facts)
            ? pending(id, provider: identity.providerId, linking: waiting) : startSession(id, proof, details: details)
        for (name, value) in session.members { answer[name] = value }
        if isNew { answer["isNewUser"] = true }
        return answer
    }

    /// The providers without a sign-in here.
    private static func refusal(of providerId: String) -> FirebaseError? {
        if providerId.hasPrefix("saml.") { return samlRefused }
        return providerId == "gc.apple.com" ? gameCenterRefused : nil
    }

    /// Verifies the credential with the tenant's identity provider of the same ID.
    private func verifiedIdentity(_ form: [String: String]) throws -> FirebaseIdentity {
        if let token = try body.filled("pendingToken") {
            do {
                return FirebaseIdentity(try service.signIn.identity(of: Credential(kind: .pendingToken(token)), in: tenantId, call))
            } catch is PendingTokenInvalid { throw FirebaseError("INVALID_PENDING_TOKEN") }
        }
        guard let providerId = form["providerId"]?.lowercased(), !providerId.isEmpty else {
            throw FirebaseError("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential.")
        }
        guard form["id_token"] != nil || form["access_token"] != nil else {
            throw FirebaseError("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: id_token or access_token is needed.")
        }
        let credential = Credential(
            kind: .providerId(providerId), idToken: form["id_token"], accessToken: form["access_token"], rawNonce: form["nonce"])
        return FirebaseIdentity(try service.signIn.identity(of: credential, in: tenantId, call))
    }

    /// The members of the answer that repeat the credential and the profile.
    private func shown(_ identity: FirebaseIdentity, _ form: [String: String]) -> JSONObject {
        let prefix = identity.providerId == "google.com" ? "https://accounts.google.com/" : ""
        var profile = identity.claims
        if identity.providerId == "google.com" {
            profile["id"] = .string(identity.subject)
            profile["verified_email"] = .bool(identity.isTrusted)
            profile["locale"] = profile["locale"] ?? "en"
            let scopes = ["profile"] + (identity.email == nil ? [] : ["email"])
            profile["granted_scopes"] = .string(
                (["openid"] + scopes.map { "https://www.googleapis.com/auth/userinfo.\($0)" }).joined(separator: " "))
        }
        var answer: JSONObject = [
            "kind": "identitytoolkit#VerifyAssertionResponse", "context": "", "providerId": .string(identity.providerId),
            "federatedId": .string(prefix + identity.subject), "rawUserInfo": .string(JSONValue.object(profile).text),
        ]
        answer["email"] = identity.email.map { .string($0) }
        answer["displayName"] = identity.displayName.map { .string($0) }
        answer["fullName"] = identity.displayName.map { .string($0) }
        answer["photoUrl"] = identity.photoUrl.map { .string($0) }
        answer["firstName"] = identity.claims["given_name"]
        answer["lastName"] = identity.claims["family_name"]
        answer["screenName"] = identity.screenName
        answer["oauthIdToken"] = form["id_token"].map { .string($0) }
        answer["oauthAccessToken"] = .string(form["access_token"] ?? "FirebaseAuthEmulatorFakeAccessToken_\(identity.providerId)")
        answer["oauthTokenSecret"] = form["oauth_token_secret"].map { .string($0) }
        answer["nonce"] = form["nonce"].map { .string($0) }
        answer["pendingToken"] = identity.pendingToken.map { .string($0) }
        return answer
    }

    /// The facts about the credential that blocking functions get.
    private static func hookDetails(_ answer: JSONObject, _ form: [String: String]) -> JSONObject {
        var details = JSONObject()
        details[FirebaseHookDetail.rawUserInfo.rawValue] = answer["rawUserInfo"]
        details[FirebaseHookDetail.idToken.rawValue] = answer["oauthIdToken"]
        details[FirebaseHookDetail.accessToken.rawValue] = form["access_token"].map { .string($0) }
        details[FirebaseHookDetail.tokenSecret.rawValue] = answer["oauthTokenSecret"]
        return details
    }

    /// An error that is an answer if the client asks for the credential.
    private func refused(_ code: String, _ answer: JSONObject) throws -> JSONObject {
        guard try body.flag("returnIdpCredential") == true else { throw FirebaseError(code) }
        var answer = answer
        answer["errorMessage"] = .string(code)
        return answer
    }

    private func needsConfirmation(_ holder: AccountRecord, _ answer: JSONObject) throws -> JSONObject {
        var answer = answer
        answer["needConfirmation"] = true
        answer["localId"] = .string(holder.id)
        let providers = try facts(holder.id)?.logins.map(\.providerId) ?? []
        answer["verifiedProvider"] = .array(providers.map { .string($0) })
        return answer
    }

    private func link(_ identity: FirebaseIdentity, to account: AccountRecord, fillsAddress: Bool) throws {
        var change = AccountUpdate.Params(accountId: account.id)
        change.link = [identity.login]
        if account.email == nil, fillsAddress, let email = identity.email {
            change.username = email
            change.emailVerified = identity.isTrusted
        } else if identity.isTrusted, identity.email == account.email.map(Username.fold), identity.email != nil {
            change.emailVerified = true
        }
        _ = try service.account.update(change, by: Self.method, call)
    }

    /// Whether the user with the address has another user ID at the provider: the address was given to another user there, or its domain
    /// was registered again (CVE-2023-3128).
    private func isRecycled(_ identity: FirebaseIdentity, _ holder: AccountRecord) throws -> Bool {
        try facts(holder.id)?.logins.contains { $0.providerId == identity.providerId && $0.subject != identity.subject } ?? false
    }

    private func canTake(_ identity: FirebaseIdentity, _ holder: AccountRecord, _ tenant: TenantRecord) throws -> Bool {
        guard identity.isTrusted else { return false }
        return try tenant.settings.recyclesAddresses || !isRecycled(identity, holder)
    }

    /// Links the identity of a sign-in that has shown its second factor, if the sign-in would still lead to the same user.
    func linkAfterFactor(_ identity: FirebaseIdentity, to account: AccountRecord) throws {
        let owner = try context.database.read { try $0.owner(ofLogin: identity.subject, at: identity.providerId, in: tenantId) }
        if owner == account.id { return }
        guard owner == nil, let email = identity.email, let holder = try self.account(email: email), holder.id == account.id,
            try canTake(identity, holder, tenantRecord())
        else { throw FirebaseError("INVALID_MFA_PENDING_CREDENTIAL : The account of the credential has changed.") }
        try take(identity, by: holder)
    }

    /// Links the identity to the user with its address. If the address was not verified, another user may have set the password and the
    /// logins: they are removed.
    private func take(_ identity: FirebaseIdentity, by holder: AccountRecord) throws {
        var change = AccountUpdate.Params(accountId: holder.id)
        if !holder.isEmailVerified {
            change.unlink = try facts(holder.id)?.logins.map(\.providerId)
            change.remove = [.password, .phoneNumber]
            change.tokensValidSince = now
        }
        change.emailVerified = true
        change.link = [identity.login]
        change.attributes = [
            "displayName": identity.displayName.map { .string($0) } ?? .null, "picture": identity.photoUrl.map { .string($0) } ?? .null,
        ]
        _ = try service.account.update(change, by: Self.method, call)
        try setFlags(of: holder) { $0["screenName"] = identity.screenName }
    }

    private func create(_ identity: FirebaseIdentity, withAddress: Bool, details: JSONObject) throws -> String {
        var new = NewAccount(tenantId: tenantId)
        new.hookDetails = details
        new.accountId = newId()
        new.otherMethod = .federated
        new.provider = identity.providerId
        if withAddress {
            new.username = identity.email
            new.isEmailVerified = identity.isTrusted
        }
        new.attributes["displayName"] = identity.displayName.map { .string($0) }
        new.attributes["picture"] = identity.photoUrl.map { .string($0) }
        let account = try service.account.create(new, by: Self.method, call).account
        var change = AccountUpdate.Params(accountId: account.id)
        change.link = [identity.login]
        _ = try service.account.update(change, by: Self.method, call)
        if let name = identity.screenName { try setFlags(of: account) { $0["screenName"] = name } }
        return account.id
    }
}
