import Contract

/// The limits of the security profiles. Each names the setting, the accepted values and the requirement behind it
/// (Sources/Accounts/README.md, "Security profiles").
struct AssuranceLimit: Sendable {
    /// The profile.
    let profile: Assurance
    /// The setting as a JSON Pointer.
    let pointer: String
    /// The number of the requirement.
    let requirement: String
    /// The accepted values, for an error.
    let limit: String
    let isKept: @Sendable (TenantCreate.Params) -> Bool

    /// Returns the conflicts of filled settings with a profile.
    static func conflicts(of settings: TenantCreate.Params, with profile: Assurance) -> [AssuranceConflict] {
        all.filter { $0.profile == profile && !$0.isKept(settings) }.map {
            AssuranceConflict(pointer: $0.pointer, requirement: $0.requirement, limit: $0.limit)
        }
    }

    /// Requirements that settings within the limits leave open.
    static func gaps(of settings: TenantCreate.Params, with profile: Assurance) -> [AssuranceConflict] {
        var gaps: [AssuranceConflict] = []
        func gap(_ pointer: String, _ requirement: String, _ limit: String) {
            gaps.append(AssuranceConflict(pointer: pointer, requirement: requirement, limit: limit))
        }
        if profile == .asvsL2, settings.mfa == .optional { gap("/mfa", "asvs 6.3.3", "required") }
        if profile == .asvsL2, settings.passwordPolicy?.breached == nil {
            gap("/passwordPolicy/breached", "asvs 6.2.12", "a service that detects breached passwords")
        }
        if profile == .nistAal2, settings.passkeys == nil { gap("/passkeys", "nist 2.2.2", "present, so that users can choose passkeys") }
        return gaps
    }

    /// - Throws: `InvalidTenantSettings` with all conflicts.
    static func check(_ settings: TenantCreate.Params) throws {
        let profile = settings.assurance
        let conflicts = conflicts(of: settings, with: profile)
        guard let first = conflicts.first else { return }
        let others = conflicts.dropFirst().map { "\($0.pointer) must be \($0.limit) (\($0.requirement))" }
        throw InvalidTenantSettings(
            pointer: first.pointer,
            reason: (["the assurance \(profile.rawValue) requires \(first.limit) (\(first.requirement))"] + others)
                .joined(separator: "; "),
            conflicts: conflicts)
    }

    private static let all: [AssuranceLimit] =
        both + [
            own(.asvsL2, "/mfa", "asvs 6.3.3", limit: "required or optional") { $0.mfa != .off },
            own(.asvsL2, "/passwordPolicy/minimumLength", "asvs 6.2.1", limit: "at least 8; at least 15 if mfa is optional") {
                ($0.passwordPolicy?.minimumLength ?? 0) >= ($0.mfa == .required ? 8 : 15)
            },
            own(.asvsL2, "/tokens/refreshTokenSeconds", "asvs 7.3.1", limit: "at most 1209600") {
                ($0.tokens?.refreshTokenSeconds ?? .max) <= 1_209_600
            },
            own(.asvsL2, "/tokens/sessionSeconds", "asvs 7.3.2", limit: "at most 2592000") {
                ($0.tokens?.sessionSeconds ?? .max) <= 2_592_000
            },
            own(.asvsL2, "/lockout/threshold", "asvs 6.3.1", limit: "at most 50") { ($0.lockout?.threshold ?? 10) <= 50 },
            own(.nistAal2, "/mfa", "nist 2.2.1", limit: "required") { $0.mfa == .required },
            own(.nistAal2, "/passwordPolicy/minimumLength", "nist 3.1.1.2", limit: "at least 8") {
                ($0.passwordPolicy?.minimumLength ?? 0) >= 8
            },
            own(.nistAal2, "/localAccountMethod", "nist 3.1.3.1", limit: "emailPassword") { $0.localAccountMethod == .emailPassword },
            own(.nistAal2, "/tokens/refreshTokenSeconds", "nist 2.2.3", limit: "at most 3600") {
                ($0.tokens?.refreshTokenSeconds ?? .max) <= 3600
            },
            own(.nistAal2, "/tokens/sessionSeconds", "nist 2.2.3", limit: "at most 86400") {
                ($0.tokens?.sessionSeconds ?? .max) <= 86_400
            },
        ]

    private static func own(
        _ profile: Assurance, _ pointer: String, _ requirement: String, limit: String,
        isKept: @escaping @Sendable (TenantCreate.Params) -> Bool
    ) -> AssuranceLimit {
        AssuranceLimit(profile: profile, pointer: pointer, requirement: requirement, limit: limit, isKept: isKept)
    }

    /// The limits of both profiles: setting, requirement of each standard, accepted values.
    private static let both: [AssuranceLimit] = {
        typealias Rule = (String, asvs: String, nist: String, String, @Sendable (TenantCreate.Params) -> Bool)
        let policy: @Sendable (TenantCreate.Params) -> PasswordPolicy = { $0.passwordPolicy ?? PasswordPolicy() }
        let rules: [Rule] = [
            ("/passwordPolicy/maximumLength", "6.2.9", "3.1.1.2", "at least 64", { policy($0).maximumLength >= 64 }),
            ("/passwordPolicy/minimumClasses", "6.2.5", "3.1.1.2", "1", { policy($0).leastClasses == 1 }),
            ("/passwordPolicy/characters", "6.2.5", "3.1.1.2", "unicode", { policy($0).acceptsUnicode }),
            ("/passwordPolicy/checksBanned", "6.2.11", "3.1.1.2", "true", { policy($0).checksBanned }),
            ("/passwordPolicy/checksCommon", "6.2.4", "3.1.1.2", "true", { policy($0).checksCommon ?? false }),
            ("/passwordPolicy/checksContext", "6.2.11", "3.1.1.2", "true", { policy($0).checksContextWords }),
            ("/tokens/refreshReuseGraceSeconds", "10.4.5", "5.1", "at most 60", { ($0.tokens?.refreshReuseGraceSeconds ?? 30) <= 60 }),
            ("/totpAdjacentIntervals", "6.5.5", "3.1.4.2", "0 or 1", { $0.totpAdjacentIntervals <= 1 }),
            ("/codes/lifetimeSeconds", "6.5.5", "3.1.3.2", "at most 600", { ($0.codes?.lifetimeSeconds ?? 600) <= 600 }),
            ("/enumerationProtection", "6.3.8", "3.1.1.2", "true", { $0.enumerationProtection == true }),
            ("/notices", "6.3.7", "4.6", "credentials", { $0.notices == .credentials }),
            ("/lockCovers", "6.3.4", "3.2.2", "everyDoor", { $0.lockCovers == .everyDoor }),
            ("/anonymousAllowed", "6.3.4", "2.2.1", "false", { !$0.anonymousAllowed }),
            (
                "/customTokenSigners", "6.3.4", "2.2.1", "absent or empty, because custom tokens skip the second factor",
                { ($0.customTokenSigners ?? []).isEmpty }
            ),
        ]
        return rules.flatMap { pointer, asvs, nist, limit, isKept in
            [
                own(.asvsL2, pointer, "asvs \(asvs)", limit: limit, isKept: isKept),
                own(.nistAal2, pointer, "nist \(nist)", limit: limit, isKept: isKept),
            ]
        }
    }()
}
