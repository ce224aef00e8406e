import Accounts
import Contract
import JSON
import Platform

/// Validates an account to import, independent of other accounts in the store. Collects all violations.
struct ImportCheck {
    let tenant: TenantRecord
    /// The hash parameters for accounts that do not specify their own.
    let how: PasswordHash?
    let now: Int64
    private(set) var violations: [Violation] = []

    init(_ tenant: TenantRecord, _ how: PasswordHash?, now: Int64) {
        self.tenant = tenant
        self.how = how
        self.now = now
    }

    mutating func add(_ pointer: String, _ rule: String, _ message: String) {
        violations.append(Violation(pointer: pointer, rule: rule, message: message))
    }

    private mutating func add(_ pointer: String, _ error: some ContractError) { add(pointer, type(of: error).type, error.message) }

    /// - Parameter newId: The ID of the account if the import does not specify one.
    /// - Returns: `nil` if there are violations.
    mutating func draft(_ given: PortableAccount, line: Int64, newId: @autoclosure () -> String) -> ImportDraft? {
        let username = username(given.email)
        let logins = logins(given.providers ?? [])
        let password = password(given)
        let method = Self.method(given, hasLogins: !logins.isEmpty)
        if given.email == nil, given.passwordHash != nil || method == .password || method == .code || method == .passkey {
            add("/email", "required", "email is missing: users who sign in with a password or one-time codes need an email address.")
        }
        if given.accountId == nil, given.email == nil, given.phoneNumber == nil, logins.isEmpty {
            add("", "unrecognisable", "Pass accountId, email, phoneNumber or providers: the account has nothing that identifies it.")
        }
        checkAgent(given, method)
        var phoneNumber: String?
        do { phoneNumber = try given.phoneNumber.map { try PhoneNumber.checked($0) } } catch let error as InvalidPhoneNumber {
            add("/phoneNumber", error)
        } catch {}
        let factors = factors(given)
        let passkeys = passkeys(given.passkeys ?? [])
        let attributes = attributes(given.attributes ?? [:])
        do { try CustomClaims.check(given.claims ?? [:]) } catch let error as ClaimNameReserved {
            add("/claims", error)
        } catch let error as ClaimsTooLong { add("/claims", error) } catch {}
        guard violations.isEmpty else { return nil }
        let account = AccountRecord(
            id: given.accountId ?? newId(), tenantId: tenant.id, username: username?.typed, email: username?.typed,
            isEmailVerified: given.emailVerified && username != nil, method: method, attributes: attributes, claims: given.claims ?? [:],
            isDisabled: given.disabled, mustChangePassword: given.mustChangePassword, createdAt: given.createdAt ?? now,
            updatedAt: given.updatedAt ?? now, lastSignInAt: given.lastSignInAt)
        return ImportDraft(
            line: line, account: account, hasOwnId: given.accountId != nil, logins: logins, factors: factors,
            password: password ?? (method == .password ? .unknown : .none), phoneNumber: phoneNumber, passkeys: passkeys,
            ownerId: given.ownerId)
    }

    private mutating func checkAgent(_ given: PortableAccount, _ method: AccountRecord.Method) {
        if method == .agent, given.ownerId == nil {
            add("/ownerId", "required", "ownerId is missing: an agent has an account that owns it.")
        }
        if method != .agent, given.ownerId != nil { add("/ownerId", "method", "Only an agent has an owner. Omit ownerId, or set method.") }
        guard method == .agent else { return }
        let others = given.email != nil || given.passwordHash != nil || given.phoneNumber != nil
        if others || given.passkeys?.isEmpty == false || given.factors?.isEmpty == false {
            add("/method", "agent", "An agent can have providers only. Omit its address, phone number, password, passkeys and factors.")
        }
    }

    private mutating func username(_ text: String?) -> Username? {
        guard let text else { return nil }
        do { return try Username(text) } catch let error as InvalidUsername { add("/email", error) } catch {}
        return nil
    }

    private static func method(_ given: PortableAccount, hasLogins: Bool) -> AccountRecord.Method {
        if let method = given.method { return AccountRecord.Method(rawValue: method.rawValue) ?? .code }
        if given.passwordHash != nil { return .password }
        if hasLogins { return .federated }
        if given.email != nil { return .code }
        if given.passkeys?.isEmpty == false { return .federated }
        return given.phoneNumber != nil ? .custom : .anonymous
    }

    /// Provider IDs in Firebase exports that repeat a sign-in method of the account itself.
    private static let derived: Set<String> = ["password", "code", "emailLink", "phone", "anonymous"]

    private mutating func logins(_ given: [PortableLogin]) -> [ImportDraft.Login] {
        var logins: [ImportDraft.Login] = []
        for (place, login) in given.enumerated() where !Self.derived.contains(login.providerId) {
            let pointer = "/providers/\(place)/providerId"
            if !Self.isKnown(login.providerId) {
                let known = KnownProvider.allCases.map(\.rawValue).joined(separator: ", ")
                add(
                    pointer, "pattern",
                    "Unsupported provider \(login.providerId). Supported are \(known), IDs of the form oidc.<name>, and URLs of trusted issuers. Remove the entry or rename it."
                )
            } else if logins.contains(where: { $0.record.providerId == login.providerId }) {
                add(pointer, "uniqueItems", "\(login.providerId) occurs twice; an account can have one login per provider.")
            }
            func said(_ text: String?) -> String? { text == "" ? nil : text }
            let record = AccountLogin(
                providerId: login.providerId, subject: login.subject, email: said(login.email.map(Username.fold)),
                displayName: said(login.displayName), photoUrl: said(login.photoUrl), linkedAt: login.linkedAt ?? now)
            logins.append(ImportDraft.Login(place: place, record: record))
        }
        return logins
    }

    private static func isKnown(_ provider: String) -> Bool {
        // The URL of a trusted issuer.
        if KnownProvider(rawValue: provider) != nil || provider.hasPrefix("https://") { return true }
        guard provider.hasPrefix("oidc."), let first = provider.utf8.dropFirst(5).first, let last = provider.utf8.last else { return false }
        func isWord(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
        return isWord(first) && isWord(last) && provider.utf8.dropFirst(5).allSatisfy { isWord($0) || ".-_".utf8.contains($0) }
    }

    private mutating func attributes(_ given: JSONObject) -> JSONObject {
        var (kept, asked) = (JSONObject(), JSONObject())
        for (name, value) in given.members {
            guard let most = AttributeRules.setByProviders[name], !tenant.attributes.contains(where: { $0.name == name }) else {
                asked[name] = value
                continue
            }
            if let text = value.string, text.unicodeScalars.count <= most, !AttributeText.hasControls(text, isOneLine: true) {
                kept[name] = value
            } else {
                add("/attributes/\(name)", "maxLength", "\(name) must be a string of at most \(most) characters in one line.")
            }
        }
        do {
            for (name, value) in try tenant.accept(asked).members { kept[name] = value }
        } catch let error as InvalidAttributes {
            for failure in error.attributes {
                add("/attributes/\(JSONPointer.escaped(failure.name))", failure.rule.rawValue, "\(failure.name): \(failure.message)")
            }
        } catch {}
        return kept
    }
}

extension ImportCheck {
    /// Returns the imported password, or `nil` if the account has none or its hash is not valid.
    private mutating func password(_ given: PortableAccount) -> ImportDraft.Password? {
        guard let text = given.passwordHash else { return nil }
        if let method = given.method, method != .password {
            add(
                "/passwordHash", "method",
                "An account with the method \(method.rawValue) has no password. Omit passwordHash, or set method to password.")
        }
        var how = how
        if let own = given.hash {
            do { how = try PasswordHash.imported(own) } catch {
                add("/hash\(error.pointer)", error)
                return nil
            }
        }
        guard let how else {
            add("/hash", "required", "hash is missing in the account and in the request. It contains the parameters of passwordHash.")
            return nil
        }
        guard let hash = Base64.decode(text), var salt = Base64.decode(given.salt ?? "") else {
            add(Base64.decode(text) == nil ? "/passwordHash" : "/salt", "pattern", "The value is not valid base64.")
            return nil
        }
        if !(16...128).contains(hash.count) {
            add("/passwordHash", "minLength", "The hash has \(hash.count) bytes; 16 to 128 bytes are allowed.")
        }
        if salt.count > 128 { add("/salt", "maxLength", "The salt has \(salt.count) bytes; the maximum is 128.") }
        if case .firebaseScrypt(let key, _, _, _) = how, key.count != hash.count {
            add(
                "/passwordHash", "minLength",
                "The hash has \(hash.count) bytes, but hashes with this signerKey have \(key.count). It belongs to another signerKey.")
        }
        do { salt = try how.setting(of: hash) ?? salt } catch { add(error.pointer, error) }
        return .hashed(HashedPassword(how: how, salt: salt, hash: hash))
    }

    private mutating func factors(_ given: PortableAccount) -> [ImportDraft.Factor] {
        var factors: [ImportDraft.Factor] = []
        let all = given.factors ?? []
        if !all.isEmpty, given.email == nil || !given.emailVerified {
            add("/factors", EmailNotVerified.type, "Second factors require a verified email address: set email and emailVerified.")
        }
        for (place, factor) in all.enumerated() {
            let pointer = "/factors/\(place)"
            var (target, secret): (String?, [UInt8]?)
            switch factor.kind {
            case .totp:
                secret = factor.secret.flatMap { Base32.decode($0) }
                if secret?.count ?? 0 < 10 {
                    add("\(pointer)/secret", "required", "An authenticator app requires its secret, at least 10 bytes in Base32.")
                }
            case .passkey:
                add("\(pointer)/kind", "enum", "Passkeys do not stand among the factors. Move it to passkeys, with the usage secondFactor.")
                continue
            case .email:
                do { target = try Username(factor.email ?? "").typed } catch let error as InvalidUsername {
                    add("\(pointer)/email", error)
                } catch {}
            case .sms:
                do { target = try PhoneNumber(factor.phoneNumber ?? "").description } catch {
                    add("\(pointer)/phoneNumber", InvalidPhoneNumber.type, "The phone number is not valid: \(error)")
                }
            }
            // Skip the factor if the same address or number is already a factor.
            if target != nil, factors.contains(where: { $0.target.map(Username.fold) == target.map(Username.fold) }) { continue }
            factors.append(
                ImportDraft.Factor(
                    kind: FactorRecord.Kind(rawValue: factor.kind.rawValue) ?? .totp, displayName: factor.displayName, target: target,
                    secret: secret, enrolledAt: factor.enrolledAt ?? now, lastUsedAt: factor.lastUsedAt))
        }
        return factors
    }
}
