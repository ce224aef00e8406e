import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// Creation, reading and deletion of users.
extension FirebaseCall {
    private static let identifierCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Returns a new ID of 28 letters and digits.
    func newId() -> String {
        String(context.random.bytes(28).map { Self.identifierCharacters[Int($0) % Self.identifierCharacters.count] })
    }

    func signUp() throws -> JSONObject {
        _ = try tenantRecord()
        let kind: JSONValue = "identitytoolkit#SignupNewUserResponse"
        if isAdmin, !body.has("idToken") {
            let account = try create()
            if let factors = try factors(in: body.has("mfa") ? body.object("mfa")?.objects("enrollments") : body.objects("mfaInfo")) {
                try setFactors(factors, of: account.id)
            }
            var answer: JSONObject = ["kind": kind, "localId": .string(account.id)]
            answer["email"] = account.email.map { .string(Username.fold($0)) }
            answer["displayName"] = account.attributes["displayName"]
            return answer
        }
        if body.has("localId") { throw FirebaseError("UNEXPECTED_PARAMETER : User ID") }
        if !body.has("idToken") { try requireSignUp() }
        let isAnonymous = !body.has("email") && !body.has("password") && !body.has("idToken")
        var answer: JSONObject
        if isAnonymous {
            guard try tenantRecord().settings.anonymousAllowed, try switches().allowsAnonymous else {
                throw FirebaseError("ADMIN_ONLY_OPERATION")
            }
            try deleteOldAnonymousUsers()
            let account = try create()
            answer = try startSession(account.id, SignInProof(amr: [], provider: "anonymous"), asksHooks: false)
        } else {
            if !body.has("email") { throw FirebaseError("MISSING_EMAIL") }
            guard try body.filled("password") != nil else { throw FirebaseError("MISSING_PASSWORD") }
            if try !tenantRecord().settings.signUpAllowed || !switches().allowsPassword { throw FirebaseError("OPERATION_NOT_ALLOWED") }
            try requireStrong(body.text("password"))
            if body.has("idToken") { return try linkPassword(kind) }
            try requireFactor(of: nil, after: .password)
            let account = try create()
            answer = try startSession(account.id, .password)
            answer["email"] = account.email.map { .string(Username.fold($0)) }
            answer["displayName"] = account.attributes["displayName"]
        }
        answer["kind"] = kind
        return answer
    }

    /// Gives the signed-in user an address and a password.
    private func linkPassword(_ kind: JSONValue) throws -> JSONObject {
        let user = try user()
        try requireRecent(user)
        let proof = continued(user, amr: SignInProof.password.amr, provider: SignInProof.password.provider)
        try requireFactor(of: user.facts, after: proof)
        var change = AccountUpdate.Params(accountId: user.account.id)
        change.username = try body.text("email").map(Username.fold)
        change.password = try body.text("password")
        _ = try service.account.update(change, by: Self.method, call)
        var answer = try startSession(user.account.id, proof, asksHooks: false)
        answer["email"] = change.username.map { .string($0) }
        answer["kind"] = kind
        return answer
    }

    /// Creates the user that the body describes.
    private func create() throws -> AccountRecord {
        var new = NewAccount(tenantId: tenantId)
        new.accountId = try (isAdmin ? body.filled("localId") : nil) ?? newId()
        if let id = new.accountId, id.unicodeScalars.count > 128 { throw FirebaseError("INVALID_LOCAL_ID") }
        new.username = try body.text("email").map(Username.fold)
        new.password = try body.text("password")
        if let password = new.password, password.isEmpty { throw FirebaseError("MISSING_PASSWORD") }
        new.attributes["displayName"] = try body.filled("displayName").map { .string($0) }
        if isAdmin {
            new.phoneNumber = try body.filled("phoneNumber")
            new.attributes["picture"] = try body.filled("photoUrl").map { .string($0) }
            new.isEmailVerified = try body.flag("emailVerified") ?? false
            new.isDisabled = try body.flag("disabled") ?? false
        } else if new.username == nil {
            new.attributes = [:]
            new.otherMethod = .anonymous
        } else {
            new.provider = SignInProof.password.provider
        }
        return try service.account.create(new, by: Self.method, call).account
    }

    func lookup() throws -> JSONObject {
        var users: [JSONObject] = []
        if body.has("idToken") || !isAdmin {
            users = [try describe(try user().facts, isOwn: true)]
        } else {
            _ = try tenantRecord()
            var seen: Set<String> = []
            for id in try identifiers() where seen.insert(id).inserted {
                if let facts = try facts(id) { users.append(try describe(facts, isOwn: false)) }
            }
        }
        var answer: JSONObject = ["kind": "identitytoolkit#GetAccountInfoResponse"]
        if !users.isEmpty { answer["users"] = .array(users.map { .object($0) }) }
        return answer
    }

    /// Returns the IDs of the users that the body names by ID, address, number, or login.
    private func identifiers() throws -> [String] {
        let (ids, emails, numbers) = (try body.texts("localId"), try body.texts("email"), try body.texts("phoneNumber"))
        let logins = try body.objects("federatedUserId").map { (try $0.text("providerId") ?? "", try $0.text("rawId") ?? "") }
        let initial = try body.texts("initialEmail")
        if ids.count + emails.count + numbers.count + logins.count > 1000 { throw FirebaseError("TOO_MANY_IDENTIFIERS") }
        return try context.database.read { tx in
            var all = ids
            all += try emails.compactMap { try tx.account(named: $0, in: tenantId)?.id }
            all += try numbers.compactMap { try tx.account(withPhoneNumber: $0, in: tenantId)?.id }
            all += try logins.compactMap { try tx.owner(ofLogin: $0.1, at: $0.0, in: tenantId) }
            if !initial.isEmpty {
                all += try tx.vendorRecords(tenantId, Self.flags).filter {
                    $0.value["initialEmail"]?.string.map(initial.contains) ?? false
                }.map(\.id)
            }
            return all
        }
    }

    func delete() throws -> JSONObject {
        let id: String
        if isAdmin, !body.has("idToken") {
            guard let given = try body.filled("localId") else { throw FirebaseError("MISSING_LOCAL_ID") }
            guard try facts(given) != nil else { throw FirebaseError("USER_NOT_FOUND") }
            id = given
        } else {
            if !isAdmin, try !switches().allowsDeletion { throw FirebaseError("ADMIN_ONLY_OPERATION") }
            let user = try user()
            try requireRecent(user)
            id = user.account.id
        }
        _ = try service.account.delete(AccountDelete.Params(accountId: id), call)
        try context.database.write { _ = try $0.deleteVendorRecord(tenantId, Self.flags, id) }
        return ["kind": "identitytoolkit#DeleteAccountResponse"]
    }

    func batchDelete() throws -> JSONObject {
        let ids = try body.texts("localIds")
        if ids.isEmpty { throw FirebaseError("LOCAL_ID_LIST_EMPTY") }
        if ids.count > 1000 { throw FirebaseError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
        let isForced = try body.flag("force") ?? false
        var errors: [JSONValue] = []
        for (index, id) in ids.enumerated() {
            guard let facts = try facts(id) else { continue }
            guard isForced || facts.account.isDisabled else {
                errors.append([
                    "index": .number(JSONNumber(Int64(index))), "localId": .string(id),
                    "message": "NOT_DISABLED : Disable the account before batch deletion.",
                ])
                continue
            }
            _ = try service.account.delete(AccountDelete.Params(accountId: id), call)
        }
        return errors.isEmpty ? [:] : ["errors": .array(errors)]
    }

    func batchGet() throws -> JSONObject {
        _ = try tenantRecord()
        let input = request.method == "GET" ? nil : body
        let limit = try query("maxResults").map { Int64($0) ?? 0 } ?? input?.integer("maxResults") ?? 20
        // At the emulator, -1 stands for all users.
        let isWhole = endpoint.isTest && limit == -1
        guard isWhole || (1...1000).contains(limit) else { throw FirebaseError("INVALID_PAGE_SELECTION") }
        let start = try query("nextPageToken") ?? input?.filled("nextPageToken") ?? ""
        let found = try context.database.read { tx in
            try tx.accounts(of: tenantId, after: start, limit: isWhole ? .max : Int(limit)).map { try AccountFacts($0, in: tx) }
        }
        var answer: JSONObject = ["kind": "identitytoolkit#DownloadAccountResponse"]
        if !found.isEmpty { answer["users"] = .array(try found.map { .object(try describe($0, isOwn: false)) }) }
        if found.count == Int(limit), let last = found.last { answer["nextPageToken"] = .string(last.account.id) }
        return answer
    }

    /// Finds users by an expression, or lists them in an order.
    func queryAccounts() throws -> JSONObject {
        _ = try tenantRecord()
        let orders: [String: AccountOrder.Key] = [
            "USER_ID": .accountId, "CREATED_AT": .createdAt, "LAST_LOGIN_AT": .lastSignInAt, "USER_EMAIL": .email,
        ]
        var sort = try body.choice("sortBy", of: FirebaseEnumeration.sorting) ?? "USER_ID"
        if sort == "SORT_BY_FIELD_UNSPECIFIED" { sort = "USER_ID" }
        guard let key = orders[sort] else { throw FirebaseError.payload("sortBy \(sort) is not available.") }
        let order = AccountOrder(key: key, isDescending: try body.choice("order", of: FirebaseEnumeration.order) == "DESC")
        var ids: [String]
        if try body.objects("expression").isEmpty {
            let selection = AccountSelection(tenantId: tenantId, order: order)
            let (start, limit) = (try body.integer("offset") ?? 0, try body.integer("limit") ?? 500)
            guard start >= 0, (1...500).contains(limit) else { throw FirebaseError("INVALID_PAGE_SELECTION") }
            ids = try context.database.read { try $0.accountIds(selection, from: Int(start), limit: Int(limit)) }
        } else {
            ids = try body.objects("expression").compactMap { expression in
                let (id, email, number) = (
                    try expression.filled("userId"), try expression.filled("email"), try expression.filled("phoneNumber")
                )
                return try context.database.read { tx in
                    if let email { return try tx.account(named: email, in: tenantId)?.id }
                    if let number { return try tx.account(withPhoneNumber: number, in: tenantId)?.id }
                    return id
                }
            }
        }
        let users = try ids.compactMap { try facts($0) }
        var answer: JSONObject = ["recordsCount": .string("\(users.count)")]
        if try body.flag("returnUserInfo") ?? true, !users.isEmpty {
            answer["userInfo"] = .array(try users.map { .object(try describe($0, isOwn: false)) })
        }
        return answer
    }
}
