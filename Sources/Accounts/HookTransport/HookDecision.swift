import Contract
import JSON

/// The decision of a hook that did not refuse. Absent members change nothing.
struct HookDecision: Sendable, Equatable {
    /// The new display name, or `null` to remove it.
    var displayName: JSONValue?
    /// The URL of the new picture, or `null` to remove it.
    var photoUrl: JSONValue?
    /// Whether the email address of the account is verified.
    var isEmailVerified: Bool?
    /// The new custom claims of the account.
    var claims: JSONObject?
    /// Claims that only the tokens of the new session contain.
    var sessionClaims: JSONObject?
    var isDisabled: Bool?

    /// The members that each hook can return in addition to `refuse`.
    private static func members(of hook: HookName) -> [String] {
        switch hook {
        case .beforeCreate: ["displayName", "photoUrl", "emailVerified", "claims", "disabled"]
        case .beforeSignIn: ["displayName", "photoUrl", "emailVerified", "claims", "sessionClaims", "disabled"]
        case .beforeSendMessage: []
        }
    }

    private static let longestReason = 1_000

    init() {}

    /// Reads the answer of a hook: `null`, or an object.
    ///
    /// - Throws: `RefusedByHook`; `HookFailed` if the answer is not valid.
    init(_ answer: JSONValue, of hook: HookName) throws {
        func invalid(_ reason: String) -> HookFailed { HookFailed(hook: hook, check: .invalidAnswer, reason: reason) }
        if answer.isNull { return }
        guard let object = answer.object else { throw invalid("The answer must be an object or null.") }
        let known = ["refuse"] + Self.members(of: hook)
        if let unknown = object.names.first(where: { !known.contains($0) }) {
            let name = String(unknown.unicodeScalars.prefix(64))
            throw invalid("The answer has the unknown member \(name). Allowed are \(known.joined(separator: ", ")).")
        }
        if let refuse = object["refuse"] {
            guard let reason = refuse.string, (1...Self.longestReason).contains(reason.unicodeScalars.count) else {
                throw invalid("The member refuse must be a string of 1 to \(Self.longestReason) characters.")
            }
            throw RefusedByHook(hook: hook, reason: reason)
        }
        if let value = object["displayName"] {
            guard value.isNull || value.string != nil else { throw invalid("The member displayName must be a string or null.") }
            displayName = value
        }
        if let value = object["photoUrl"] {
            guard value.isNull || value.string != nil else { throw invalid("The member photoUrl must be a string or null.") }
            photoUrl = value
        }
        if let value = object["emailVerified"] {
            guard let verified = value.bool else { throw invalid("The member emailVerified must be true or false.") }
            isEmailVerified = verified
        }
        claims = try Self.claims(object["claims"], "claims", invalid)
        sessionClaims = try Self.claims(object["sessionClaims"], "sessionClaims", invalid)
        if let value = object["disabled"] {
            guard let disabled = value.bool else { throw invalid("The member disabled must be true or false.") }
            isDisabled = disabled
        }
    }

    private static func claims(_ value: JSONValue?, _ name: String, _ invalid: (String) -> HookFailed) throws -> JSONObject? {
        guard let value else { return nil }
        guard let object = value.object else { throw invalid("The member \(name) must be an object.") }
        do { try CustomClaims.check(object) } catch let error as any ContractError {
            throw invalid("The member \(name) is not accepted. \(error.message)")
        }
        return object
    }

    /// Changes an account as the hook decided.
    ///
    /// - Throws: `HookFailed` if the tenant does not accept the display name or the picture.
    func apply(to account: inout AccountRecord, of tenant: TenantRecord, by hook: HookName, at now: Int64) throws {
        for (name, member, value) in [("displayName", "displayName", displayName), ("picture", "photoUrl", photoUrl)] {
            guard let value else { continue }
            do {
                account.attributes[name] = try tenant.acceptChange([name: value], of: account.attributes)[name]
            } catch let error as any ContractError {
                throw HookFailed(hook: hook, check: .invalidAnswer, reason: "The member \(member) is not accepted. \(error.message)")
            }
        }
        // An account without an address has none to verify.
        if let isEmailVerified, account.email != nil { account.isEmailVerified = isEmailVerified }
        if let claims { account.claims = claims }
        if let isDisabled { account.isDisabled = isDisabled }
        if self != HookDecision() { account.updatedAt = now }
    }
}
