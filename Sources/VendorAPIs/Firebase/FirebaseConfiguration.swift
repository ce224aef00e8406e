import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// The configuration of a project: tenants, identity providers and settings.
extension FirebaseCall {
    static let recaptcha: JSONObject = [
        "kind": "identitytoolkit#GetRecaptchaParamResponse", "recaptchaSiteKey": "Fake-key__Do_not_send_this_to_Recaptcha_",
        "recaptchaStoken": "This-is-a-fake-token__Dont-send-this-to-the-Recaptcha-service__The-Auth-Emulator-does-not-support-Recaptcha",
    ]

    func publicConfiguration() -> JSONObject {
        ["projectId": "12345", "authorizedDomains": ["localhost", "127.0.0.1"]]
    }

    /// Performs a call about the configuration. Returns `nil` if the request is another call.
    func configuration() throws -> JSONObject? {
        let (method, name) = (request.method, path.name)
        let parts = name.split(separator: "/").map(String.init)
        if path.version == "v1", name == "projects", method == "GET" { return publicConfiguration() }
        if name == "recaptchaParams", method == "GET" { return Self.recaptcha }
        if name == "recaptchaConfig", method == "GET" {
            let providers: [JSONValue] = ["EMAIL_PASSWORD_PROVIDER", "PHONE_PROVIDER"].map {
                ["provider": .string($0), "enforcementState": "OFF"]
            }
            return ["recaptchaKey": .string("projects/\(project)/keys/none"), "recaptchaEnforcementState": .array(providers)]
        }
        if name == "passwordPolicy", method == "GET" { return try passwordPolicy() }
        if name == "defaultSupportedIdps", method == "GET" { return FirebaseProviderKind.supported }
        guard path.project != nil else { return nil }
        if name == "config", path.tenant == nil { return try projectConfiguration() }
        if path.version == "v2", name.isEmpty, path.tenant != nil { return try tenant() }
        switch parts.first {
        case "tenants" where path.version == "v2" && parts.count == 1: return try tenants()
        default: return try FirebaseProviderKind(rawValue: parts.first ?? "").map { try provider($0, parts.count > 1 ? parts[1] : nil) }
        }
    }

    private func passwordPolicy() throws -> JSONObject {
        let policy = try tenantRecord().settings.passwordPolicy ?? PasswordPolicy()
        if let configured = try configuredPolicy() { return configured.shown }
        return [
            "customStrengthOptions": [
                "minPasswordLength": .number(JSONNumber(policy.minimumLength ?? 8)),
                "maxPasswordLength": .number(JSONNumber(policy.maximumLength)),
            ],
            "allowedNonAlphanumericCharacters": FirebasePasswordPolicy.allowedSymbols,
            "enforcementState": "ENFORCE", "schemaVersion": 1, "forceUpgradeOnSignin": false,
        ]
    }

    private func projectConfiguration() throws -> JSONObject {
        if request.method == "PATCH" {
            let present = try stored("config", "project") ?? [:]
            var changed = merged(present, with: body.members)
            changed["smsRegionConfig"] = FirebaseRegions.resolved(changed["smsRegionConfig"], given: body.members["smsRegionConfig"])
            try FirebaseRegions.check(changed["smsRegionConfig"])
            try check(testNumbers: changed["signIn"]?["phoneNumber"]?["testPhoneNumbers"])
            try FirebasePasswordPolicy.check(changed["passwordPolicyConfig"])
            try patchEmulatorConfiguration()
            let made = changed
            try context.database.write { try $0.setVendorRecord(tenantId, "config", "project", value: made) }
            try applyFactors(changed["mfa"]?.object, to: tenantId)
        }
        let settings = try tenantRecord().settings
        var answer = try stored("config", "project") ?? [:]
        answer["name"] = .string("projects/\(project)/config")
        var signIn = answer["signIn"]?.object ?? [:]
        signIn["allowDuplicateEmails"] = .bool(!settings.oneAccountPerAddress)
        answer["signIn"] = .object(signIn)
        answer["emailPrivacyConfig"] = ["enableImprovedEmailPrivacy": .bool(settings.enumerationProtection ?? false)]
        return answer
    }

    func stored(_ kind: String, _ id: String) throws -> JSONObject? {
        try context.database.read { try $0.vendorRecord(tenantId, kind, id) }
    }

    /// Returns `present` with the members of the update mask, or all given ones, replaced by `given`.
    func merged(_ present: JSONObject, with given: JSONObject) -> JSONObject {
        var result = present
        let mask = query("updateMask")?.split(separator: ",").map(String.init) ?? given.names
        for path in mask {
            let steps = path.split(separator: ".").map(String.init)
            result = Self.replaced(result, given, steps[...])
        }
        return result
    }

    private static func replaced(_ present: JSONObject, _ given: JSONObject?, _ steps: ArraySlice<String>) -> JSONObject {
        guard let name = steps.first else { return present }
        var result = present
        if steps.count == 1 {
            result[name] = given?[name] == .null ? nil : given?[name]
        } else if present[name] != nil || given?[name] != nil {
            let inner = replaced(present[name]?.object ?? [:], given?[name]?.object, steps.dropFirst())
            result[name] = .object(inner)
        }
        return result
    }

    // MARK: Tenants

    static let tenantKind = "tenant"

    private func shown(tenant id: String, _ record: JSONObject) -> JSONObject {
        var answer = record
        answer["name"] = .string("projects/\(project)/tenants/\(id)")
        return answer
    }

    private func tenants() throws -> JSONObject {
        switch request.method {
        case "POST":
            let suffix = String(context.random.bytes(5).map { Array("abcdefghijklmnopqrstuvwxyz0123456789")[Int($0) % 36] })
            let name = try body.filled("displayName")
            let id =
                "\(name.map { $0.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } } ?? "tenant")-\(suffix)"
            var record = body.members
            record["name"] = nil
            for flag in ["allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser", "disableAuth"] where record[flag] == nil {
                record[flag] = false
            }
            if record["mfaConfig"] == nil { record["mfaConfig"] = ["state": "DISABLED", "enabledProviders": []] }
            let made = record
            try check(testNumbers: made["testPhoneNumbers"])
            try FirebaseRegions.check(made["smsRegionConfig"])
            try FirebasePasswordPolicy.check(made["passwordPolicyConfig"])
            try service.create(tenant: "\(project).\(id)", call)
            try applyFactors(made["mfaConfig"]?.object, to: "\(project).\(id)")
            try context.database.write { try $0.setVendorRecord(tenantId, Self.tenantKind, id, value: made) }
            return shown(tenant: id, made)
        case "GET":
            let limit = query("pageSize").flatMap { Int($0) } ?? 20
            let (page, next) = try page(of: Self.tenantKind, limit)
            var answer: JSONObject = [:]
            if !page.isEmpty { answer["tenants"] = .array(page.map { .object(shown(tenant: $0.id, $0.value)) }) }
            answer["nextPageToken"] = next.map { .string($0) }
            return answer
        default: throw FirebaseError.notFound
        }
    }

    /// - Throws: `FirebaseError` if there are more than ten test numbers, or a number or a code is not valid.
    private func check(testNumbers value: JSONValue?) throws {
        guard let value, value != .null else { return }
        guard let numbers = value.object else { throw FirebaseError.payload("Invalid value at 'testPhoneNumbers' (Map).") }
        if numbers.count > 10 { throw FirebaseError("MAXIMUM_TEST_PHONE_NUMBER_EXCEEDED") }
        for (number, code) in numbers.members {
            _ = try self.number(number)
            guard let digits = code.string, digits.utf8.count == 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw FirebaseError("INVALID_TESTING_PHONE_NUMBER")
            }
        }
    }

    func page(of kind: String, _ limit: Int) throws -> (records: [(id: String, value: JSONObject)], next: String?) {
        let all = try context.database.read { try $0.vendorRecords(tenantId, kind) }.sorted { $0.id < $1.id }
        let after = query("pageToken") ?? ""
        let rest = all.filter { $0.id > after }
        let page = Array(rest.prefix(max(1, min(limit, 1000))))
        return (page, rest.count > page.count ? page.last?.id : nil)
    }

    private func tenant() throws -> JSONObject {
        guard let id = path.tenant else { throw FirebaseError.notFound }
        let scope = project
        guard let record = try context.database.read({ try $0.vendorRecord(scope, Self.tenantKind, id) }) else {
            throw FirebaseError("TENANT_NOT_FOUND")
        }
        switch request.method {
        case "GET": return shown(tenant: id, record)
        case "PATCH":
            var changed = merged(record, with: body.members)
            changed["smsRegionConfig"] = FirebaseRegions.resolved(changed["smsRegionConfig"], given: body.members["smsRegionConfig"])
            try FirebaseRegions.check(changed["smsRegionConfig"])
            try check(testNumbers: changed["testPhoneNumbers"])
            try FirebasePasswordPolicy.check(changed["passwordPolicyConfig"])
            let updated = changed
            try context.database.write { try $0.setVendorRecord(scope, Self.tenantKind, id, value: updated) }
            try applyFactors(updated["mfaConfig"]?.object, to: tenantId)
            return shown(tenant: id, updated)
        case "DELETE":
            _ = try service.tenant.delete(TenantDelete.Params(tenantId: tenantId), call)
            try context.database.write { _ = try $0.deleteVendorRecord(scope, Self.tenantKind, id) }
            return [:]
        default: throw FirebaseError.notFound
        }
    }
}
