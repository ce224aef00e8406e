import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// The features of a project or a tenant. In a project, all are on by default; in a tenant, all are off by default.
struct FirebaseSwitches {
    var isDisabled = false
    var allowsPassword = true
    var allowsEmailLink = true
    var allowsAnonymous = true
    var allowsPhone = true
    var allowsSignUp = true
    var allowsDeletion = true
    var allowsSMSFactor = true
    var allowsAppFactor = true
    /// The fixed codes of test numbers, which receive no message.
    var testNumbers: [String: String] = [:]

    /// - Parameter config: The configuration of a project.
    init(project config: JSONObject) {
        let signIn = config["signIn"]?.object
        allowsPassword = signIn?["email"]?["enabled"] != false
        allowsEmailLink = allowsPassword && signIn?["email"]?["passwordRequired"] != true
        allowsAnonymous = signIn?["anonymous"]?["enabled"] != false
        allowsPhone = signIn?["phoneNumber"]?["enabled"] != false
        readNumbers(signIn?["phoneNumber"]?["testPhoneNumbers"])
        readPermissions(config)
        if let mfa = config["mfa"]?.object { readFactors(mfa) }
    }

    /// - Parameters:
    ///   - record: The configuration of a tenant.
    ///   - config: That of its project.
    init(tenant record: JSONObject, project config: JSONObject) {
        isDisabled = record["disableAuth"] == true
        allowsPassword = record["allowPasswordSignup"] == true
        allowsEmailLink = record["enableEmailLinkSignin"] == true
        allowsAnonymous = record["enableAnonymousUser"] == true
        allowsPhone = false
        readNumbers(record["testPhoneNumbers"])
        readPermissions(config)
        readPermissions(record)
        readFactors(record["mfaConfig"]?.object ?? [:])
    }

    private mutating func readPermissions(_ record: JSONObject) {
        let permissions = record["client"]?["permissions"]
        allowsSignUp = allowsSignUp && permissions?["disabledUserSignup"] != true
        allowsDeletion = allowsDeletion && permissions?["disabledUserDeletion"] != true
    }

    private mutating func readNumbers(_ value: JSONValue?) {
        for (number, code) in value?.object?.members ?? [] { testNumbers[number] = code.string }
    }

    private mutating func readFactors(_ mfa: JSONObject) {
        let isOn = Self.isOn(mfa["state"])
        allowsSMSFactor = isOn && mfa["enabledProviders"]?.array?.contains("PHONE_SMS") == true
        allowsAppFactor = isOn && Self.apps(mfa).contains { Self.isOn($0["state"]) }
    }

    private static func isOn(_ state: JSONValue?) -> Bool { state == "ENABLED" || state == "MANDATORY" }

    private static func apps(_ mfa: JSONObject) -> [JSONValue] {
        (mfa["providerConfigs"]?.array ?? []).filter { $0["totpProviderConfig"] != nil }
    }

    /// The settings of the tenant that correspond to a configuration of second factors.
    static func change(_ tenantId: String, for mfa: JSONObject) -> TenantUpdate.Params {
        var change = TenantUpdate.Params(tenantId: tenantId)
        change.mfa = mfa["state"] == "MANDATORY" ? .required : isOn(mfa["state"]) ? .optional : .off
        // The default of the original API, in time steps.
        let steps = apps(mfa).first?["totpProviderConfig"]?["adjacentIntervals"]
        change.totpAdjacentIntervals = min(10, max(0, steps?.int ?? 5))
        return change
    }
}

extension FirebaseCall {
    enum FactorKind { case sms, totp, any }

    /// - Throws: `FirebaseError` if the project or the tenant does not exist.
    func switches() throws -> FirebaseSwitches {
        _ = try tenantRecord()
        let (project, firebaseTenant) = (project, firebaseTenant)
        return try context.database.read { tx in
            let config = try tx.vendorRecord(project, "config", "project") ?? [:]
            guard let firebaseTenant else { return FirebaseSwitches(project: config) }
            return FirebaseSwitches(tenant: try tx.vendorRecord(project, Self.tenantKind, firebaseTenant) ?? [:], project: config)
        }
    }

    /// - Throws: `FirebaseError` if the tenant is disabled.
    func requireEnabled() throws {
        if try switches().isDisabled { throw FirebaseError("PROJECT_DISABLED") }
    }

    /// - Throws: `FirebaseError` if clients cannot create users.
    func requireSignUp() throws {
        if !isAdmin, try !switches().allowsSignUp || !tenantRecord().settings.signUpAllowed { throw FirebaseError("ADMIN_ONLY_OPERATION") }
    }

    func requireFactors(_ kind: FactorKind) throws {
        let switches = try switches()
        switch kind {
        case .sms where !switches.allowsSMSFactor: throw FirebaseError("OPERATION_NOT_ALLOWED : SMS based MFA not enabled.")
        case .totp where !switches.allowsAppFactor: throw FirebaseError("OPERATION_NOT_ALLOWED : TOTP based MFA not enabled.")
        case .any where !switches.allowsSMSFactor && !switches.allowsAppFactor:
            throw FirebaseError("OPERATION_NOT_ALLOWED : SMS based MFA not enabled.")
        default: break
        }
    }

    /// Makes the settings of the store's tenant agree with a changed configuration of second factors.
    func applyFactors(_ mfa: JSONObject?, to tenantId: String) throws {
        guard let mfa else { return }
        _ = try service.tenant.update(FirebaseSwitches.change(tenantId, for: mfa), call)
    }
}
