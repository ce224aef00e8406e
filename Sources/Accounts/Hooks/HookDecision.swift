import Contract
import JSON

/// The decision of a hook that did not refuse. Absent members change nothing.
struct HookDecision: Sendable, Equatable {
    /// The new display name, or `null` to remove it.
    var displayName: JSONValue?
    /// The new custom claims of the account.
    var claims: JSONObject?
    /// Claims that only the tokens of the new session contain.
    var sessionClaims: JSONObject?
    var isDisabled: Bool?

    /// The members that each hook can return in addition to `refuse`.
    private static func members(of hook: HookName) -> [String] {
        switch hook {
        case .beforeCreate: ["displayName", "claims", "disabled"]
        case .beforeSignIn: ["displayName", "claims", "sessionClaims", "disabled"]
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
        do { try TenantTokenClaims.check(custom: object) } catch let error as any ContractError {
            throw invalid("The member \(name) is not accepted. \(error.message)")
        }
        return object
    }

    /// Changes an account as the hook decided.
    ///
    /// - Throws: `HookFailed` if the tenant does not accept the display name.
    func apply(to account: inout AccountRecord, of tenant: TenantRecord, by hook: HookName, at now: Int64) throws {
        if let displayName {
            do {
                account.attributes["displayName"] = try tenant.acceptChange(["displayName": displayName], of: account.attributes)[
                    "displayName"]
            } catch let error as any ContractError {
                throw HookFailed(hook: hook, check: .invalidAnswer, reason: "The member displayName is not accepted. \(error.message)")
            }
        }
        if let claims { account.claims = claims }
        if let isDisabled { account.isDisabled = isDisabled }
        if self != HookDecision() { account.updatedAt = now }
    }
}
