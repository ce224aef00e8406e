import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// Import of users with their password hashes.
extension FirebaseCall {
    func batchCreate() throws -> JSONObject {
        let tenant = try tenantRecord()
        let users = try body.objects("users")
        if users.isEmpty { throw FirebaseError("MISSING_USER_ACCOUNT") }
        if users.count > 1000 { throw FirebaseError("USER_COUNT_EXCEED_LIMIT") }
        let how = try hashing()
        // The SDKs never send it, and their documentation says that an import replaces users.
        let overwrites = try body.flag("allowOverwrite") ?? true
        try check(users, allowsSameId: overwrites)
        var errors: [JSONValue] = []
        for (index, user) in users.enumerated() {
            do { try add(user, how, tenant, overwrites: overwrites) } catch {
                let message = (error as? FirebaseError)?.message ?? (error as? any ContractError).map { FirebaseError($0).message }
                guard let message else { throw error }
                errors.append(["index": .number(JSONNumber(Int64(index))), "message": .string(Self.words(message))])
            }
        }
        var answer: JSONObject = ["kind": "identitytoolkit#UploadAccountResponse"]
        if !errors.isEmpty { answer["error"] = .array(errors) }
        return answer
    }

    /// The words of the original API for errors of single users.
    private static func words(_ message: String) -> String {
        switch message.prefix(while: { $0 != " " }) {
        case "INVALID_CLAIMS": "Invalid custom claims provided."
        case "CLAIMS_TOO_LARGE": "Custom claims provided are too large."
        case "FORBIDDEN_CLAIM": "Custom claims provided include a reserved claim."
        default: message
        }
    }

    /// - Throws: `FirebaseError` if two users of the request have the same ID, or with `sanityCheck` the same address or login.
    private func check(_ users: [FirebaseInput], allowsSameId: Bool) throws {
        let isThorough = try body.flag("sanityCheck") ?? false
        var (ids, emails, logins): (Set<String>, Set<String>, Set<[String]>) = ([], [], [])
        for user in users {
            if !allowsSameId || isThorough, let id = try user.filled("localId"), !ids.insert(id).inserted {
                throw FirebaseError("DUPLICATE_LOCAL_ID : \(id)")
            }
            guard isThorough else { continue }
            if let email = try user.filled("email"), !emails.insert(Username.fold(email)).inserted {
                throw FirebaseError("DUPLICATE_EMAIL : \(email)")
            }
            for entry in try user.objects("providerUserInfo") {
                let (provider, subject) = (try entry.filled("providerId") ?? "", try entry.filled("rawId") ?? "")
                if !subject.isEmpty, !logins.insert([provider, subject]).inserted {
                    throw FirebaseError("DUPLICATE_RAW_ID : Provider id(\(provider)), Raw id(\(subject))")
                }
            }
        }
    }

    /// Returns the hash algorithm of the request, or `nil` if it has none.
    private func hashing() throws -> PasswordHash? {
        guard let name = try body.filled("hashAlgorithm") else { return nil }
        let algorithms: [String: PasswordAlgorithm] = [
            "HMAC_SHA512": .hmacSha512, "HMAC_SHA256": .hmacSha256, "HMAC_SHA1": .hmacSha1, "HMAC_MD5": .hmacMd5, "MD5": .md5,
            "SHA1": .sha1, "SHA256": .sha256, "SHA512": .sha512, "PBKDF_SHA1": .pbkdf2Sha1, "PBKDF2_SHA256": .pbkdf2Sha256,
            "SCRYPT": .firebaseScrypt, "STANDARD_SCRYPT": .scrypt, "BCRYPT": .bcrypt, "ARGON2": .argon2id,
        ]
        guard let algorithm = algorithms[name] else {
            throw FirebaseError(
                "INVALID_HASH_ALGORITHM : \(name) is not supported. Supported are \(algorithms.keys.sorted().joined(separator: ", ")).")
        }
        var how = PasswordHashing(algorithm: algorithm)
        let rounds = try body.integer("rounds")
        switch algorithm {
        case .hmacMd5, .hmacSha1, .hmacSha256, .hmacSha512: how.signerKey = try body.filled("signerKey")
        case .md5, .sha1, .sha256, .sha512, .pbkdf2Sha1, .pbkdf2Sha256, .pbkdf2Sha512: how.rounds = rounds.map { max(1, $0) }
        case .bcrypt, .argon2id: break
        case .firebaseScrypt:
            how.signerKey = try body.filled("signerKey")
            how.saltSeparator = try body.filled("saltSeparator")
            how.rounds = rounds
            how.memoryCost = try body.integer("memoryCost")
        case .scrypt:
            let cost = try body.integer("cpuMemCost") ?? 16384
            guard cost > 1, cost <= 1 << 17, cost & (cost - 1) == 0 else {
                throw FirebaseError("INVALID_HASH_PARAMETERS : cpuMemCost must be a power of two from 2 to 131072.")
            }
            how.memoryCost = Int64(cost.trailingZeroBitCount)
            how.blockSize = try body.integer("blockSize")
            how.parallelization = try body.integer("parallelization")
        }
        let order = try body.choice("passwordHashOrder", of: FirebaseEnumeration.hashOrder)
        if order == "PASSWORD_AND_SALT" { how.saltAfterPassword = true }
        return try PasswordHash.imported(how)
    }

    private func add(_ user: FirebaseInput, _ how: PasswordHash?, _ tenant: TenantRecord, overwrites: Bool) throws {
        guard let id = try user.filled("localId"), id.unicodeScalars.count <= 128 else { throw FirebaseError("localId is missing") }
        if let named = try user.filled("tenantId"), named != firebaseTenant {
            throw FirebaseError("Tenant id in userInfo does not match the tenant id in request.")
        }
        let email = try user.filled("email").map { try Username(Username.fold($0)).typed }
        let number = try user.filled("phoneNumber").map { try PhoneNumber.checked($0) }
        let hashed = try hashed(user, how)
        let plain = try hashed == nil ? user.filled("rawPassword") : nil
        let logins = try logins(of: user)
        var attributes = JSONObject()
        attributes["displayName"] = try user.filled("displayName").map { .string($0) }
        attributes["picture"] = try user.filled("photoUrl").map { .string($0) }
        var created = now
        if let milliseconds = try user.integer("createdAt") { created = milliseconds / 1000 }
        var account = AccountRecord(
            id: id, tenantId: tenant.id, username: email, email: email, isEmailVerified: try user.flag("emailVerified") ?? false,
            method: email == nil ? (logins.isEmpty ? .custom : .federated) : hashed == nil && plain == nil ? .code : .password,
            attributes: try tenant.acceptChange(attributes, of: [:]), claims: try user.filled("customAttributes").map(Self.claims) ?? [:],
            isDisabled: try user.flag("disabled") ?? false, createdAt: created, updatedAt: now,
            lastSignInAt: try user.integer("lastLoginAt").map { $0 / 1000 })
        account.password = try hashed.map { context.passwords.sealed($0, as: id) } ?? plain.map { try context.passwords.sealed($0, as: id) }
        if let moment = try user.integer("validSince") { account.validAfter = moment }
        let made = account
        try context.database.write { tx in
            try tx.lock([id])
            try tx.deleteVendorRecord(tenantId, Self.flags, id)
            if let present = try tx.account(id) {
                guard present.tenantId == tenant.id else { throw FirebaseError("DUPLICATE_LOCAL_ID") }
                if !overwrites { throw FirebaseError("localId belongs to an existing account - can not overwrite.") }
                _ = try tx.deleteSessions(of: id)
                try tx.deleteAccountLogins(of: id)
                try tx.setPhoneNumber(nil, of: present)
                if let address = made.username {
                    guard try tx.rename(present, to: address) else { throw FirebaseError("email exists in other account in database") }
                } else {
                    try tx.releaseNames(of: id)
                }
                try tx.update(made)
            } else if try !tx.insert(made) {
                throw FirebaseError("email exists in other account in database")
            }
            if let number {
                do { try tx.setPhoneNumber(number, of: made) } catch is PhoneNumberInUse {
                    throw FirebaseError("phone number exists in other account in database")
                }
            }
            for login in logins where try !tx.insert(login, of: made) {
                throw FirebaseError("raw_id exists in other account in database")
            }
        }
        if let factors = try importedFactors(of: user) { try setFactors(factors, of: id) }
        if let moment = made.lastSignInAt { try setTimes(FirebaseTimes(createdAt: nil, lastSignInAt: moment), of: id) }
    }

    private func importedFactors(of user: FirebaseInput) throws -> [FactorRecord]? {
        let enrollments = try user.objects("mfaInfo")
        if enrollments.isEmpty { return nil }
        guard user.has("email"), try user.flag("emailVerified") == true else {
            throw FirebaseError("Second factor account requires email to be presented and verified.")
        }
        return try enrollments.map { enrollment in
            FactorRecord(
                id: try enrollment.filled("mfaEnrollmentId") ?? newId(), accountId: "", kind: .sms,
                displayName: try enrollment.filled("displayName"),
                target: try PhoneNumber.checked(try enrollment.filled("phoneInfo") ?? ""),
                enrolledAt: try enrollment.time("enrolledAt") ?? now)
        }
    }

    private func hashed(_ user: FirebaseInput, _ how: PasswordHash?) throws -> HashedPassword? {
        guard let text = try user.filled("passwordHash") else { return nil }
        guard let how else { throw FirebaseError("MISSING_HASH_ALGORITHM") }
        guard let hash = Base64.decode(text), !hash.isEmpty, let salt = Base64.decode(try user.text("salt") ?? "") else {
            throw FirebaseError("INVALID_PASSWORD_HASH : The hash or the salt is not valid base64.")
        }
        do { return HashedPassword(how: how, salt: try how.setting(of: hash) ?? salt, hash: hash) } catch {
            throw FirebaseError("INVALID_PASSWORD_HASH : \(error.reason)")
        }
    }

    private func logins(of user: FirebaseInput) throws -> [AccountLogin] {
        try user.objects("providerUserInfo").compactMap { entry in
            let providerId = try entry.filled("providerId") ?? ""
            if ["password", "phone"].contains(providerId) { return nil }
            guard !providerId.isEmpty else { throw FirebaseError("federatedId or (providerId & rawId) is required") }
            guard let subject = try entry.filled("rawId") ?? entry.filled("federatedId") else {
                throw FirebaseError("federatedId or (providerId & rawId) is required")
            }
            return AccountLogin(
                providerId: providerId, subject: subject, email: try entry.filled("email"), displayName: try entry.filled("displayName"),
                photoUrl: try entry.filled("photoUrl"), linkedAt: now)
        }
    }
}
