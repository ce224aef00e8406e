import Contract

/// The defaults of the security profiles (Sources/Accounts/README.md, "Security profiles"). `AssuranceLimits` has their limits.
enum AssuranceProfile {
    /// Returns the settings with the defaults of their profile for omitted settings.
    static func filled(_ given: TenantCreate.Params) -> TenantCreate.Params {
        var settings = given
        let (profile, hasProfile) = (given.assurance, given.assurance != .none)
        settings.localAccountMethod = given.localAccountMethod ?? (profile == .nistAal2 ? .emailPassword : .either)
        settings.mfa = given.mfa ?? (hasProfile ? .required : .optional)
        settings.enumerationProtection = given.enumerationProtection ?? hasProfile
        settings.lockCovers = given.lockCovers ?? (hasProfile ? .everyDoor : .guessing)
        settings.passwordPolicy = filled(given.passwordPolicy ?? PasswordPolicy(), of: settings)
        settings.tokens = filled(given.tokens ?? TokenLifetimes(), of: profile)
        return settings
    }

    private static func filled(_ given: PasswordPolicy, of settings: TenantCreate.Params) -> PasswordPolicy {
        var policy = given
        let hasProfile = settings.assurance != .none
        // A password that can be the only factor needs 15 characters (NIST SP 800-63B-4 section 3.1.1.2).
        let isOnlyFactor = settings.assurance == .asvsL2 && settings.mfa == .optional
        policy.minimumLength = given.minimumLength ?? (isOnlyFactor ? 15 : 8)
        policy.characters = given.characters ?? (hasProfile ? .unicode : .ascii)
        policy.minimumClasses = given.minimumClasses ?? (policy.characters == .unicode ? 1 : 3)
        policy.checksCommon = given.checksCommon ?? hasProfile
        policy.checksContext = given.checksContext ?? given.checksBanned
        return policy
    }

    private static func filled(_ given: TokenLifetimes, of profile: Assurance) -> TokenLifetimes {
        var tokens = given
        switch profile {
        case .none: tokens.refreshTokenSeconds = given.refreshTokenSeconds ?? 90 * day
        case .asvsL2:
            tokens.refreshTokenSeconds = given.refreshTokenSeconds ?? 7 * day
            tokens.sessionSeconds = given.sessionSeconds ?? 30 * day
        case .nistAal2:
            tokens.refreshTokenSeconds = given.refreshTokenSeconds ?? 1800
            tokens.sessionSeconds = given.sessionSeconds ?? day / 2
        }
        return tokens
    }

    static let day: Int64 = 86_400
}

extension PasswordPolicy {
    var shortest: Int64 { minimumLength ?? 8 }
    var leastClasses: Int64 { minimumClasses ?? (acceptsUnicode ? 1 : 3) }
    var acceptsUnicode: Bool { characters == .unicode }
    var checksContextWords: Bool { checksContext ?? checksBanned }
}

extension TokenLifetimes {
    /// The lifetime of an unused refresh token, in seconds.
    package var idleSeconds: Int64 { refreshTokenSeconds ?? 90 * AssuranceProfile.day }

    /// The time at which a session ends that is not used after `now`.
    package func idleEnd(from now: Int64, ofSessionFrom authenticatedAt: Int64) -> Int64 {
        min(now + idleSeconds, end(ofSessionFrom: authenticatedAt) ?? .max)
    }

    /// The time at which a session ends, however often it is refreshed; `nil` if the tenant has no limit.
    package func end(ofSessionFrom authenticatedAt: Int64) -> Int64? { sessionSeconds.map { authenticatedAt + $0 } }
}

extension TenantRecord {
    package var mfa: MfaPolicy { settings.mfa ?? .optional }
    package var enumerationProtection: Bool { settings.enumerationProtection ?? false }
    package var localAccountMethod: LocalAccountMethod { settings.localAccountMethod ?? .either }
    var hasProfile: Bool { settings.assurance != .none }

    /// - Throws: `TenantDisabled`.
    package func requireEnabled() throws {
        if settings.disabled { throw TenantDisabled(tenantId: id) }
    }
}

extension TenantRecord {
    /// The details of an audit record about a change of the profile.
    func assuranceChange(from before: TenantRecord) -> [(String, String)] {
        let (old, new) = (before.settings.assurance, settings.assurance)
        return old == new ? [] : [("assuranceBefore", old.rawValue), ("assurance", new.rawValue)]
    }
}
