import JSON
import ServiceContext
import Storage

/// The password policy of a project or tenant (`passwordPolicyConfig`). It applies to passwords that users choose. Passwords that
/// administrators set must only be as long as the tenant demands.
struct FirebasePasswordPolicy {
    private static let states = ["PASSWORD_POLICY_ENFORCEMENT_STATE_UNSPECIFIED", "OFF", "ENFORCE"]
    /// The minimum lengths that the original API allows.
    private static let minimums: ClosedRange<Int64> = 6...30
    private static let largestMaximum: Int64 = 4096
    /// The characters that are neither letters nor digits for the policy.
    static let symbols = "^$*.[]{}()?\"!@#%&/\\,><':;|_~`+-="

    /// The kinds of characters that a policy can demand, by the names of their settings.
    private static let kinds: [(setting: String, words: String, contains: @Sendable (Character) -> Bool)] = [
        ("containsLowercaseCharacter", "a lower case character", { $0.isASCII && $0.isLowercase }),
        ("containsUppercaseCharacter", "an upper case character", { $0.isASCII && $0.isUppercase }),
        ("containsNumericCharacter", "a numeric character", { $0.isASCII && $0.isNumber }),
        ("containsNonAlphanumericCharacter", "a non-alphanumeric character", { symbols.contains($0) }),
    ]

    let isEnforced: Bool
    /// Whether users whose password does not meet the policy cannot sign in with it.
    let forcesUpgrade: Bool
    private let minimum: Int64
    private let maximum: Int64?
    private let demanded: Set<String>

    /// - Parameter config: The configuration of the policy, which was checked when it was stored.
    init(_ config: JSONObject) {
        let options = config["passwordPolicyVersions"]?.array?.first?["customStrengthOptions"]?.object ?? [:]
        isEnforced = config["passwordPolicyEnforcementState"] == "ENFORCE"
        forcesUpgrade = isEnforced && config["forceUpgradeOnSignin"] == true
        let given = FirebaseInput(options)
        minimum = (try? given.integer("minPasswordLength")) ?? Self.minimums.lowerBound
        maximum = try? given.integer("maxPasswordLength")
        demanded = Set(Self.kinds.map { $0.setting }.filter { (try? given.flag($0)) == true })
    }

    /// - Throws: `FirebaseError` if a configuration is not valid.
    static func check(_ config: JSONValue?) throws {
        func invalid(_ reason: String) -> FirebaseError { FirebaseError("INVALID_CONFIG : passwordPolicyConfig.\(reason)") }
        guard let config, config != .null else { return }
        guard let object = config.object else { throw FirebaseError.payload("Invalid value at 'passwordPolicyConfig' (Message).") }
        let given = FirebaseInput(object)
        if let state = try given.filled("passwordPolicyEnforcementState"), !states.contains(state) {
            throw invalid("passwordPolicyEnforcementState must be OFF or ENFORCE.")
        }
        _ = try given.flag("forceUpgradeOnSignin")
        let versions = try given.objects("passwordPolicyVersions")
        if versions.count > 1 { throw invalid("passwordPolicyVersions must have one element.") }
        guard let options = try versions.first?.object("customStrengthOptions") else { return }
        let minimum = try options.integer("minPasswordLength")
        if let minimum, !minimums.contains(minimum) { throw invalid("minPasswordLength must be from 6 to 30.") }
        if let maximum = try options.integer("maxPasswordLength"), !((minimum ?? minimums.lowerBound)...largestMaximum).contains(maximum) {
            throw invalid("maxPasswordLength must be from minPasswordLength to \(largestMaximum).")
        }
        for kind in kinds { _ = try options.flag(kind.setting) }
    }

    /// - Throws: `FirebaseError` if a password does not meet the policy, with everything that is missing.
    func check(_ password: String) throws {
        guard isEnforced else { return }
        var missing: [String] = []
        let length = Int64(password.unicodeScalars.count)
        if length < minimum { missing.append("at least \(minimum) characters") }
        if let maximum, length > maximum { missing.append("at most \(maximum) characters") }
        missing += Self.kinds.filter { demanded.contains($0.setting) && !password.contains(where: $0.contains) }.map { $0.words }
        if missing.isEmpty { return }
        let words = missing.map { "Password must contain \($0)" }.joined(separator: ", ")
        throw FirebaseError("PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [\(words)]")
    }

    /// The policy as clients read it.
    var shown: JSONObject {
        var options: JSONObject = ["minPasswordLength": .number(JSONNumber(minimum))]
        options["maxPasswordLength"] = maximum.map { .number(JSONNumber($0)) }
        for name in demanded.sorted() { options[name] = true }
        return [
            "customStrengthOptions": .object(options), "allowedNonAlphanumericCharacters": Self.allowedSymbols,
            "enforcementState": isEnforced ? "ENFORCE" : "OFF", "schemaVersion": 1, "forceUpgradeOnSignin": .bool(forcesUpgrade),
        ]
    }

    static var allowedSymbols: JSONValue { .array(symbols.map { .string(String($0)) }) }
}

extension FirebaseCall {
    /// The configured policy of the project or the tenant, or `nil`.
    func configuredPolicy() throws -> FirebasePasswordPolicy? {
        let (project, firebaseTenant) = (project, firebaseTenant)
        let record = try context.database.read { tx in
            guard let firebaseTenant else { return try tx.vendorRecord(project, "config", "project") }
            return try tx.vendorRecord(project, Self.tenantKind, firebaseTenant)
        }
        return record?["passwordPolicyConfig"]?.object.map(FirebasePasswordPolicy.init)
    }

    /// - Throws: `FirebaseError` if a password that a user has chosen does not meet the configured policy.
    func requireStrong(_ password: String?) throws {
        if let password { try configuredPolicy()?.check(password) }
    }
}
