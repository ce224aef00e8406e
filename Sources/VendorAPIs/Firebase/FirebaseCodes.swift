import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// Links and codes for actions by email.
extension FirebaseCall {
    static let codes = "oob"

    static let modes = [
        "EMAIL_SIGNIN": "signIn", "PASSWORD_RESET": "resetPassword", "VERIFY_EMAIL": "verifyEmail",
        "VERIFY_AND_CHANGE_EMAIL": "verifyAndChangeEmail", "RECOVER_EMAIL": "recoverEmail",
        "REVERT_SECOND_FACTOR_ADDITION": "revertSecondFactorAddition",
    ]

    /// The lifetime of a code, in seconds.
    static let lifetimes: [String: Int64] = ["PASSWORD_RESET": 3600, "EMAIL_SIGNIN": 21_600]
    static let usualLifetime: Int64 = 259_200

    /// Stores a new code and returns it as the emulator's list shows it.
    @discardableResult
    func issue(_ type: String, _ email: String, newEmail: String? = nil, factor: FactorRecord? = nil) throws -> JSONObject {
        let code = Base64URL.encode(context.random.bytes(40))
        var query = [
            ("mode", Self.modes[type] ?? ""), ("lang", "en"), ("oobCode", code), ("apiKey", request.parameter("key") ?? "fake-api-key"),
        ]
        if let url = try body.filled("continueUrl") { query.append(("continueUrl", url)) }
        if let firebaseTenant { query.append(("tenantId", firebaseTenant)) }
        let text = query.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let link = try self.link(query: text)
        var record: JSONObject = [
            "email": .string(email), "requestType": .string(type), "oobCode": .string(code), "oobLink": .string(link),
            "expiresAt": .number(JSONNumber(now + (Self.lifetimes[type] ?? Self.usualLifetime))),
        ]
        record["newEmail"] = newEmail.map { .string($0) }
        var kept = record
        if let factor { (kept["factor"], kept["accountId"]) = (.object(Self.factor(factor)), .string(factor.accountId)) }
        let made = kept
        try context.database.write { tx in
            try tx.deleteExpiredVendorRecords(tenantId, Self.codes, at: now)
            try tx.setVendorRecord(tenantId, Self.codes, code, value: made)
        }
        return record
    }

    /// Returns the link of a code. Outside of tests, the host of the request does not prove the application's address, so the page of the
    /// tenant takes precedence.
    private func link(query: String) throws -> String {
        guard !endpoint.isTest, let page = try tenantRecord().settings.delivery?.linkUrl else { return "\(actionPage)?\(query)" }
        let parts = page.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let fragment = parts.count == 2 ? "#\(parts[1])" : ""
        return "\(parts[0])\(parts[0].contains("?") ? "&" : "?")\(query)\(fragment)"
    }

    /// Returns the record of a code.
    ///
    /// - Throws: `FirebaseError` if it is unknown, used or expired.
    func code(_ code: String, _ types: Set<String> = Set(modes.keys)) throws -> JSONObject {
        guard let record = try context.database.read({ try $0.vendorRecord(tenantId, Self.codes, code) }),
            types.contains(record["requestType"]?.string ?? "")
        else { throw FirebaseError("INVALID_OOB_CODE") }
        if (record["expiresAt"]?.int ?? 0) <= now { throw FirebaseError("EXPIRED_OOB_CODE") }
        return record
    }

    func use(_ code: String) throws {
        let isUnused = try context.database.write { try $0.deleteVendorRecord(tenantId, Self.codes, code) }
        if !isUnused { throw FirebaseError("INVALID_OOB_CODE") }
    }

    func resetPassword() throws -> JSONObject {
        if try !switches().allowsPassword { throw FirebaseError("PASSWORD_LOGIN_DISABLED") }
        if !body.has("oobCode"), body.has("oldPassword") { return try replacePassword() }
        guard let code = try body.filled("oobCode") else { throw FirebaseError("MISSING_OOB_CODE") }
        let record = try self.code(code)
        let type = record["requestType"]?.string ?? ""
        var answer: JSONObject = ["kind": "identitytoolkit#ResetPasswordResponse", "requestType": .string(type)]
        if let password = try body.filled("newPassword") {
            guard type == "PASSWORD_RESET" else { throw FirebaseError("INVALID_OOB_CODE") }
            try reset(code, record, password)
        } else {
            answer["newEmail"] = record["newEmail"]
            answer["mfaInfo"] = record["factor"]
        }
        if type != "EMAIL_SIGNIN" { answer["email"] = record["email"] }
        return answer
    }

    /// Sets a new password. The address is then verified, so logins that another user may have linked end.
    private func reset(_ code: String, _ record: JSONObject, _ password: String) throws {
        guard let account = try account(email: record["email"]?.string ?? "") else { throw FirebaseError("INVALID_OOB_CODE") }
        if account.isDisabled { throw FirebaseError("USER_DISABLED") }
        try requireUnchanged(account, since: record)
        guard let facts = try facts(account.id) else { throw FirebaseError("INVALID_OOB_CODE") }
        try requireStrong(password)
        var change = AccountUpdate.Params(accountId: account.id)
        change.password = password
        change.emailVerified = true
        change.unlink = facts.logins.map(\.providerId)
        _ = try service.account.update(change, by: Self.method, call)
        try use(code)
    }

    /// Applies a code that changes or verifies an address.
    func applyCode() throws -> JSONObject {
        guard let code = try body.filled("oobCode") else { throw FirebaseError("MISSING_OOB_CODE") }
        let record = try self.code(code, ["VERIFY_EMAIL", "VERIFY_AND_CHANGE_EMAIL", "RECOVER_EMAIL", Self.revertFactor])
        return try apply(code, record)
    }

    /// - Throws: `FirebaseError` if the password or the address changed after the code was issued: the user who requested it may have lost
    ///   access.
    private func requireUnchanged(_ account: AccountRecord, since record: JSONObject) throws {
        let lifetime = Self.lifetimes[record["requestType"]?.string ?? ""] ?? Self.usualLifetime
        if (record["expiresAt"]?.int ?? 0) - lifetime < account.validAfter { throw FirebaseError("INVALID_OOB_CODE") }
    }

    func apply(_ code: String, _ record: JSONObject) throws -> JSONObject {
        let (email, type) = (record["email"]?.string ?? "", record["requestType"]?.string ?? "")
        if type == Self.revertFactor { return try revertFactor(code, record) }
        let found: AccountRecord?
        if type == "RECOVER_EMAIL" {
            let owner = try context.database.read { tx in
                try tx.vendorRecords(tenantId, Self.flags).first { $0.value["initialEmail"]?.string == email }?.id
            }
            found = try owner.flatMap { try facts($0)?.account }
        } else {
            found = try account(email: email)
        }
        guard let account = found else { throw FirebaseError("INVALID_OOB_CODE") }
        if account.isDisabled { throw FirebaseError("USER_DISABLED") }
        if type == "VERIFY_AND_CHANGE_EMAIL" { try requireUnchanged(account, since: record) }
        var change = AccountUpdate.Params(accountId: account.id)
        change.emailVerified = true
        if type == "RECOVER_EMAIL" { change.username = email }
        if type == "VERIFY_AND_CHANGE_EMAIL" { change.username = record["newEmail"]?.string }
        do { _ = try service.account.update(change, by: Self.method, call) } catch let error as UserAlreadyExists {
            // The emulator also ends the code of an address that another user has taken.
            if endpoint.isTest, type == "VERIFY_AND_CHANGE_EMAIL" { try use(code) }
            throw error
        }
        try use(code)
        if type == "VERIFY_AND_CHANGE_EMAIL" {
            try rememberFirst(email, of: account)
        }
        var answer = try shown(account.id)
        answer["newEmail"] = record["newEmail"]
        return answer
    }

    private static let linkProof = SignInProof(amr: ["otp"], provider: "password")

    /// Returns the evidence with the second factor that the user of an ID token has shown.
    private func keepingFactor(of user: FirebaseUser?, _ proof: SignInProof) -> SignInProof {
        guard let factor = user?.session?.secondFactor else { return proof }
        var proof = proof
        proof.secondFactor = factor
        return proof
    }

    func signInWithEmailLink() throws -> JSONObject {
        if try !switches().allowsEmailLink { throw FirebaseError("OPERATION_NOT_ALLOWED") }
        let linked = try body.has("idToken") ? user() : nil
        guard let email = try body.filled("email").map(Username.fold) else { throw FirebaseError("MISSING_EMAIL") }
        guard let code = try body.filled("oobCode") else { throw FirebaseError("MISSING_OOB_CODE") }
        let record = try self.code(code, ["EMAIL_SIGNIN"])
        guard record["email"]?.string == email else {
            throw FirebaseError("INVALID_EMAIL : The email provided does not match the sign-in email address.")
        }
        try use(code)
        var account = try account(email: email)
        // The link proves the own address again, so it is a new sign-in; an address that is added is not.
        let proof =
            account == nil ? linked.map { continued($0, amr: ["otp"], provider: "password") } ?? Self.linkProof : Self.linkProof
        try requireFactor(of: linked?.facts ?? account.flatMap { try facts($0.id) }, after: keepingFactor(of: linked, proof))
        if let account, account.isDisabled { throw FirebaseError("USER_DISABLED") }
        if let account, let linked, account.id != linked.account.id { throw FirebaseError("EMAIL_EXISTS") }
        let isNew = account == nil && linked == nil
        if let present = linked?.account ?? account {
            var change = AccountUpdate.Params(accountId: present.id)
            if account == nil { change.username = email }
            change.emailVerified = true
            // The address was not proved before: another user may have created the account.
            if linked == nil, !present.isEmailVerified {
                change.unlink = try facts(present.id)?.logins.map(\.providerId)
                if present.password != nil { change.remove = [.password] }
            }
            _ = try service.account.update(change, by: Self.method, call)
            account = try facts(present.id)?.account
        } else {
            try requireSignUp()
            var new = NewAccount(tenantId: tenantId)
            (new.accountId, new.username, new.isEmailVerified, new.provider) = (newId(), email, true, "code")
            account = try service.account.create(new, by: Self.method, call).account
        }
        guard let account else { throw FirebaseError("USER_NOT_FOUND") }
        try setFlags(of: account) { $0["emailLinkSignin"] = true }
        let needsFactor = try linked == nil && facts(account.id).map { try self.needsFactor($0) } ?? false
        var answer =
            try needsFactor
            ? pending(account.id, provider: "password") : startSession(account.id, keepingFactor(of: linked, proof))
        answer["kind"] = "identitytoolkit#EmailLinkSigninResponse"
        answer["email"] = .string(email)
        answer["isNewUser"] = .bool(isNew)
        return answer
    }

    /// Returns the sign-in methods of an address.
    func createAuthUri() throws -> JSONObject {
        let tenant = try tenantRecord()
        guard let url = try body.filled("continueUri") else { throw FirebaseError("MISSING_CONTINUE_URI") }
        guard Self.isAbsolute(url) else { throw FirebaseError("INVALID_CONTINUE_URI") }
        if let provider = try body.filled("providerId")?.lowercased() { return try authorizationURL(at: provider, continuingAt: url) }
        guard let email = try body.filled("identifier") else { throw FirebaseError("MISSING_IDENTIFIER") }
        guard (try? Username(email)) != nil else { throw FirebaseError("INVALID_IDENTIFIER") }
        let session = try body.filled("sessionId") ?? Base64URL.encode(context.random.bytes(18))
        var answer: JSONObject = ["kind": "identitytoolkit#CreateAuthUriResponse", "sessionId": .string(session)]
        if tenant.enumerationProtection { return answer }
        let account = try account(email: email) ?? owner(ofProviderAddress: Username.fold(email))
        var methods: [String] = []
        var providers: [String] = []
        if let account, let facts = try facts(account.id) {
            let flags = try context.database.read { try self.flags(of: account, in: $0) }
            if account.password != nil { methods.append("password") }
            if flags["emailLinkSignin"] == true { methods.append("emailLink") }
            if !methods.isEmpty { providers.append("password") }
            // The address is that of the account, so with several accounts per address it does not identify a login.
            if tenant.settings.oneAccountPerAddress {
                methods += facts.logins.map(\.providerId)
                providers += facts.logins.map(\.providerId)
            }
        }
        answer["registered"] = .bool(account != nil)
        answer["signinMethods"] = .array(methods.map { .string($0) })
        answer["allProviders"] = .array(providers.map { .string($0) })
        return answer
    }
}
