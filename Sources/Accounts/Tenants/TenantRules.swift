import Contract
import Messages
import Patterns
import Platform
import Storage

/// Validates the settings of a tenant beyond their schema.
package enum TenantRules {
    /// Attribute names that have another meaning in sign-ups or tokens.
    private static let reserved: Set<String> = ["email", "username", "password", "phone"]

    /// - Throws: `InvalidTenantSettings`.
    package static func check(_ settings: TenantCreate.Params, checksAttributes: Bool = true) throws {
        if checksAttributes { try check(settings.attributes ?? []) }
        try settings.delivery?.check()
        let settings = AssuranceProfile.filled(settings)
        try AssuranceLimit.check(settings)
        if let passkeys = settings.passkeys { try PasskeySettingsRules.check(passkeys) }
        let policy = settings.passwordPolicy ?? PasswordPolicy()
        if policy.shortest > policy.maximumLength {
            throw InvalidTenantSettings(pointer: "/passwordPolicy/minimumLength", reason: "it exceeds maximumLength")
        }
        if let check = policy.breached, ![.https, check.allowInsecure ? .http : .https].contains(HTTPURL.Scheme(beginning: check.url)) {
            throw InvalidTenantSettings(
                pointer: "/passwordPolicy/breached/url",
                reason: "it must be an https URL; with allowInsecure, an http URL with a loopback address is allowed")
        }
        if let check = policy.breached {
            let flaw =
                check.url.contains("?")
                ? "it must not contain a query, because the five digits are appended to it"
                : WebhookURL.flaw(in: check.url, allowsInsecureLoopback: check.allowInsecure)
            if let flaw { throw InvalidTenantSettings(pointer: "/passwordPolicy/breached/url", reason: flaw) }
        }
        if settings.phoneSignIn != .off, settings.assurance != .none, !settings.acceptsSmsRisk {
            throw InvalidTenantSettings(
                pointer: "/phoneSignIn", reason: "phone numbers can be taken over, so an assurance requires acceptsSmsRisk for it")
        }
        try checkAudiences(settings)
        try checkDelegations(settings)
        try checkSubjectIssuers(settings)
        let lockout = settings.lockout ?? LockoutPolicy()
        if lockout.durationSeconds > lockout.maximumSeconds {
            throw InvalidTenantSettings(pointer: "/lockout/durationSeconds", reason: "it exceeds maximumSeconds")
        }
    }

    /// - Parameter isAccepted: Whether the caller confirmed that the tenant gives up its profile.
    /// - Throws: `InvalidTenantSettings`.
    package static func check(lessAssurance isAccepted: Bool, from tenant: TenantRecord, to assurance: Assurance) throws {
        guard tenant.hasProfile, assurance == .none, !isAccepted else { return }
        throw InvalidTenantSettings(
            pointer: "/assurance",
            reason: "the tenant would give up the assurance \(tenant.settings.assurance.rawValue); to confirm, set acceptsLessAssurance")
    }

    /// - Throws: `InvalidTenantSettings` if a file that the settings name cannot be used.
    package static func checkFiles(of settings: TenantCreate.Params, at now: Int64) throws {
        try AuthenticatorMetadataFiles.check(settings.passkeys, at: now)
    }

    /// - Throws: `InvalidTenantSettings` if the changed settings make existing passkeys useless.
    package static func check(changeOf tenant: TenantRecord, to settings: TenantCreate.Params, in tx: Transaction) throws {
        try PasskeySettingsRules.check(change: settings.passkeys, of: tenant, in: tx)
    }

    private static func check(_ attributes: [TenantAttribute]) throws {
        var names: Set<String> = []
        for (index, attribute) in attributes.enumerated() {
            func refuse(_ member: String, _ reason: String) -> InvalidTenantSettings {
                InvalidTenantSettings(pointer: "/attributes/\(index)/\(member)", reason: reason)
            }
            guard names.insert(Username.fold(attribute.name)).inserted else {
                throw refuse("name", "another attribute has this name; names must differ in more than case")
            }
            if reserved.contains(Username.fold(attribute.name)) {
                throw refuse("name", "it is the name with which users sign up and cannot be an attribute")
            }
            if attribute.inIdToken, CustomClaims.isReserved(attribute.name) {
                throw refuse("name", "ID tokens already have a claim of this name; choose another name, or omit inIdToken")
            }
            if BuiltInAttribute(rawValue: attribute.name) != nil, attribute.type != .string {
                throw refuse("type", "\(attribute.name) is predefined as a string")
            }
            if attribute.options != nil, attribute.type != .string { throw refuse("options", "only a string can have options") }
            if attribute.multiple, attribute.options == nil { throw refuse("multiple", "the options are empty") }
            if let pattern = attribute.pattern {
                if attribute.type != .string { throw refuse("pattern", "only a string can have a pattern") }
                do { _ = try Pattern(pattern) } catch { throw refuse("pattern", "\(error)") }
            }
            let values = (attribute.options ?? []).map(\.value)
            if Set(values).count != values.count { throw refuse("options", "two options have the same value") }
        }
    }
}
