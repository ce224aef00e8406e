import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// Changes of users.
extension FirebaseCall {
    func update() throws -> JSONObject {
        if body.has("oobCode") { return try applyCode() }
        if isAdmin, !body.has("idToken") { return try updateByAdmin() }
        if !body.has("idToken") { throw FirebaseError("INVALID_REQ_TYPE : Unsupported request parameters.") }
        if body.has("customAttributes") { throw FirebaseError("INSUFFICIENT_PERMISSION") }
        if body.has("disableUser") { throw FirebaseError("OPERATION_NOT_ALLOWED") }
        let user = try user()
        var change = try profile(of: user.account.id)
        if let email = try body.text("email") { change.username = Username.fold(email) }
        if let email = change.username, email != user.account.email.map(Username.fold) { try requireDirectChange(of: user) }
        change.password = try body.text("password")
        try requireStrong(change.password)
        if change.username == user.account.email.map(Username.fold) { change.username = nil }
        // As at the emulator, any value ends the other sessions, and a test can link without a credential.
        if body.has("validSince") { change.tokensValidSince = now }
        if endpoint.isTest { change.link = try givenLogin() }
        let isSensitive = change.username != nil || change.password != nil
        if isSensitive { try requireRecent(user) }
        let returnsTokens = try isSensitive || change.tokensValidSince != nil || body.flag("returnSecureToken") == true
        // The first address or password turns an anonymous user, who needs no second factor, into one who signs in with a password.
        let isFirst = isSensitive && user.account.method == .anonymous
        if isFirst, change.password != nil, try !switches().allowsPassword { throw FirebaseError("OPERATION_NOT_ALLOWED") }
        let setsPassword = change.password != nil
        let proof = continued(
            user, amr: isFirst && setsPassword ? SignInProof.password.amr : nil,
            provider: setsPassword ? SignInProof.password.provider : nil)
        if returnsTokens {
            try requireFactor(of: user.facts, after: isFirst ? continued(user, provider: SignInProof.password.provider) : proof)
        }
        _ = try service.account.update(change, by: Self.method, call)
        if let email = user.account.email, change.username != nil {
            try rememberFirst(Username.fold(email), of: user.account)
        }
        if change.password != nil { try rememberPassword(of: user.account) }
        try forgetLink(of: user.account)
        var answer = try shown(user.account.id)
        if returnsTokens {
            for (name, value) in try startSession(user.account.id, proof, asksHooks: false).members { answer[name] = value }
        }
        return answer
    }

    /// Remembers the address that a user had before the first change, and gives its owner a link that undoes the change.
    func rememberFirst(_ email: String, of account: AccountRecord) throws {
        var first = email
        try setFlags(of: account) {
            if let known = $0["initialEmail"]?.string { first = known } else { $0["initialEmail"] = .string(first) }
        }
        if account.method != .anonymous { try issueRecovery(of: first) }
    }

    private func rememberPassword(of account: AccountRecord) throws {
        let now = now
        try setFlags(of: account) { $0["passwordUpdatedAt"] = .number(JSONNumber(now)) }
    }

    /// - Throws: `FirebaseError` if the tenant hides which addresses have accounts: the answer to a change would tell it, so the new
    ///   address must be verified first.
    private func requireDirectChange(of user: FirebaseUser) throws {
        guard user.account.email != nil, try tenantRecord().enumerationProtection else { return }
        throw FirebaseError(
            "OPERATION_NOT_ALLOWED : Please verify the new email before changing email. Use sendOobCode with VERIFY_AND_CHANGE_EMAIL.")
    }

    /// Forgets that the user signs in by link, if the request removes the address or the sign-in with it.
    private func forgetLink(of account: AccountRecord) throws {
        let isRemoved =
            try body.texts("deleteProvider").contains("password")
            || body.choices("deleteAttribute", of: FirebaseEnumeration.attribute).contains("EMAIL")
        if isRemoved { try setFlags(of: account) { $0["emailLinkSignin"] = nil } }
    }

    private func updateByAdmin() throws -> JSONObject {
        if body.members["mfa"]?.object?["enrollments"] == .null { throw FirebaseError.payload("/mfa/enrollments must be array") }
        guard let id = try body.filled("localId") else { throw FirebaseError("MISSING_LOCAL_ID") }
        guard let before = try facts(id) else { throw FirebaseError("USER_NOT_FOUND") }
        var change = try profile(of: id)
        change.username = try body.text("email").map(Username.fold)
        if change.username == before.account.email.map(Username.fold) { change.username = nil }
        change.password = try body.text("password")
        change.emailVerified = try body.flag("emailVerified")
        change.disabled = try body.flag("disableUser")
        change.phoneNumber = try body.filled("phoneNumber")
        change.tokensValidSince = try body.integer("validSince")
        if let text = try body.text("customAttributes") { change.claims = try Self.claims(text) }
        change.link = try givenLogin()
        let factors = try factors(in: body.object("mfa").map { try $0.objects("enrollments") }, of: before.factors)
        let times = try times(of: before.account)
        _ = try service.account.update(change, by: Self.method, call)
        if change.password != nil { try rememberPassword(of: before.account) }
        try forgetLink(of: before.account)
        if let factors { try setFactors(factors, of: id) }
        try setTimes(times, of: id)
        return try shown(id)
    }

    /// The login that a request links without a credential.
    private func givenLogin() throws -> [PortableLogin]? {
        guard let login = try body.object("linkProviderUserInfo") else { return nil }
        guard let providerId = try login.filled("providerId") else { throw FirebaseError("MISSING_PROVIDER_ID") }
        guard let subject = try login.filled("rawId") else { throw FirebaseError("MISSING_RAW_ID") }
        return [
            PortableLogin(
                providerId: providerId, subject: subject, email: try login.filled("email"),
                displayName: try login.filled("displayName"), photoUrl: try login.filled("photoUrl"))
        ]
    }

    /// The changes that users and administrators can make.
    private func profile(of id: String) throws -> AccountUpdate.Params {
        var change = AccountUpdate.Params(accountId: id)
        var attributes = JSONObject()
        if let name = try body.text("displayName") { attributes["displayName"] = name.isEmpty ? .null : .string(name) }
        if let url = try body.text("photoUrl") { attributes["picture"] = url.isEmpty ? .null : .string(url) }
        var remove: [AccountUpdate.Params.Remove] = []
        for name in try body.choices("deleteAttribute", of: FirebaseEnumeration.attribute) {
            switch name {
            case "DISPLAY_NAME": attributes["displayName"] = .null
            case "PHOTO_URL": attributes["picture"] = .null
            case "PASSWORD": remove.append(.password)
            case "EMAIL": remove.append(.username)
            case "USER_ATTRIBUTE_NAME_UNSPECIFIED": break
            default: throw FirebaseError.payload("deleteAttribute \(name) is not available.")
            }
        }
        var unlink: [String] = []
        for provider in try body.texts("deleteProvider") {
            switch provider {
            case "phone": remove.append(.phoneNumber)
            case "password": remove.append(.password)
            default: unlink.append(provider)
            }
        }
        if !attributes.isEmpty { change.attributes = attributes }
        if !remove.isEmpty { change.remove = remove }
        if !unlink.isEmpty { change.unlink = unlink }
        return change
    }

    /// Returns custom claims from their text.
    static func claims(_ text: String) throws -> JSONObject {
        if text.isEmpty { return [:] }
        guard let claims = (try? JSONValue(parsing: text))?.object else { throw FirebaseError("INVALID_CLAIMS") }
        if let name = claims.names.first(where: FirebaseTokens.reserved.contains) { throw FirebaseError("FORBIDDEN_CLAIM : \(name)") }
        return claims
    }

    /// The answer to a change: the user after it.
    func shown(_ id: String) throws -> JSONObject {
        guard let facts = try facts(id) else { throw FirebaseError("USER_NOT_FOUND") }
        let user = try describe(facts, isOwn: true)
        var answer: JSONObject = ["kind": "identitytoolkit#SetAccountInfoResponse", "providerUserInfo": .array([])]
        for name in ["localId", "email", "emailVerified", "displayName", "photoUrl", "passwordHash", "providerUserInfo"] {
            if let value = user[name] { answer[name] = value }
        }
        return answer
    }

    /// Returns the second factors that an administrator sets, or `nil` if the request has none.
    ///
    /// - Parameter present: The factors that the user has, or `nil` for a new user.
    func factors(in enrollments: [FirebaseInput]?, of present: [FactorRecord]? = nil) throws -> [FactorRecord]? {
        guard let enrollments, body.has("mfa") || body.has("mfaInfo") else { return nil }
        let isUpdate = present != nil
        var (numbers, ids): (Set<String>, Set<String>) = ([], [])
        return try enrollments.compactMap { enrollment in
            let number = try? PhoneNumber(try enrollment.text("phoneInfo") ?? "").description
            guard let number else { throw FirebaseError("INVALID_MFA_PHONE_NUMBER : Invalid format.") }
            guard numbers.insert(number).inserted else { return nil }
            // A new user has no factors yet, so their IDs are always new.
            let given = try enrollment.filled("mfaEnrollmentId")
            if isUpdate, given == nil { throw FirebaseError("INVALID_MFA_ENROLLMENT_ID : mfaEnrollmentId must be defined.") }
            let id = body.has("mfa") ? given ?? newId() : newId()
            guard ids.insert(id).inserted else { throw FirebaseError("DUPLICATE_MFA_ENROLLMENT_ID") }
            return FactorRecord(
                id: id, accountId: "", kind: .sms, displayName: try enrollment.filled("displayName"), target: number,
                enrolledAt: try enrollment.time("enrolledAt") ?? present?.first { $0.id == id }?.enrolledAt ?? now)
        }
    }

    /// Replaces the second factors of an account, except passkeys, which this API does not know.
    func setFactors(_ factors: [FactorRecord], of id: String) throws {
        if factors.count > 5 { throw FirebaseError("SECOND_FACTOR_LIMIT_EXCEEDED") }
        try context.database.write { tx in
            let present = try tx.factors(of: id)
            try tx.deleteCodeFactors(of: id)
            for factor in factors where factor.kind != .passkey {
                let before = present.first { $0.id == factor.id }
                try tx.insert(
                    FactorRecord(
                        id: factor.id, accountId: id, kind: factor.kind, displayName: factor.displayName, target: factor.target,
                        secret: factor.secret ?? before?.secret, lastStep: factor.lastStep ?? before?.lastStep,
                        enrolledAt: factor.enrolledAt, lastUsedAt: before?.lastUsedAt))
            }
        }
    }
}
