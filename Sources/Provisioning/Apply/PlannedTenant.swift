import Accounts
import Contract
import JSON
import ServiceContext
import SigningKeys
import Storage

/// A declared tenant with its stored state.
struct PlannedTenant {
    let place: Int
    let before: TenantRecord?
    let after: TenantRecord
    let difference: Difference

    var writes: Bool { difference.change != .unchanged }

    /// - Parameters:
    ///   - delivery: The declared delivery settings, encrypted.
    ///   - vault: Decrypts the delivery settings.
    /// - Returns: `nil` if the settings are not valid. A violation is then added.
    /// - Throws: `SealBroken`.
    init?(
        _ declared: Declared<TenantDeclaration>, delivery: TenantDelivery?, existing: TenantRecord?, _ facts: ApplyFacts,
        _ problems: inout ApplyProblems
    ) throws {
        let (place, declaration, now) = (declared.place, declared.declaration, facts.now)
        let pointer = "/tenants/\(place)"
        if let existing, let given = declaration.signingAlgorithm, given != existing.settings.signingAlgorithm {
            problems.add(
                pointer + "/signingAlgorithm", rule: "signingAlgorithmFixed",
                "The tenant signs with \(existing.settings.signingAlgorithm.rawValue). To change the algorithm, call key.rotate.")
        }
        var settings = declaration.update.over(
            existing?.settings
                ?? TenantCreate.Params(tenantId: declaration.tenantId, signingAlgorithm: declaration.signingAlgorithm ?? .ES256))
        let kept = try Self.delivery(delivery, over: existing?.settings.delivery, of: declaration.tenantId, facts.vault)
        settings.delivery = try kept?.opened(for: declaration.tenantId, facts.vault)
        do {
            try TenantRules.check(settings)
            if let existing {
                try TenantRules.check(lessAssurance: declaration.acceptsLessAssurance, from: existing, to: settings.assurance)
            }
            if settings.passkeys != existing?.settings.passkeys { try TenantRules.checkFiles(of: settings, at: now) }
        } catch let error as InvalidTenantSettings {
            problems.add(pointer + error.pointer, rule: InvalidTenantSettings.type, "The setting is not valid: \(error.reason).")
            return nil
        }
        settings.delivery = kept
        self.place = place
        before = existing
        after = TenantRecord(settings, createdAt: existing?.createdAt ?? now, updatedAt: now)
        let (old, new) = (existing?.storedSettings ?? [:], after.storedSettings)
        difference = Difference(isNew: existing == nil, Self.members.map { ($0, old[$0] != new[$0]) })
    }

    /// The members that a document can change, in the order of the declaration.
    private static let members = [
        "name", "localAccountMethod", "signUpAllowed", "attributes", "audiences", "scopes", "passwordPolicy", "codes", "lockout", "tokens",
        "delivery", "enumerationProtection", "oneAccountPerAddress", "mfa", "totpAdjacentIntervals", "notices", "anonymousAllowed",
        "phoneSignIn",
        "passkeys", "customTokenSigners", "assurance", "disabled", "lockCovers", "acceptsSmsRisk", "audienceScopes",
        "idTokenProfile", "authenticationContexts", "delegations", "subjectIssuers", "idJag", "transactionTokens", "recyclesAddresses",
    ]

    /// Returns the new delivery settings, encrypted. Unchanged settings are not encrypted again, because the encrypted secrets would
    /// differ.
    private static func delivery(
        _ declared: TenantDelivery?, over present: TenantDelivery?, of tenantId: String, _ vault: Vault
    ) throws -> TenantDelivery? {
        guard let declared else { return present }
        let wanted = declared.keepingSecrets(of: present)
        guard let present, try wanted.opened(for: tenantId, vault) == present.opened(for: tenantId, vault) else { return wanted }
        return present
    }

    /// - Parameter key: The signing key of a new tenant.
    /// - Throws: `KeyNeeded` if the tenant is new and `key` is `nil`.
    func write(_ key: NewSigningKey?, at now: Int64, in tx: Transaction) throws {
        guard before == nil else { return try tx.update(after) }
        guard let key else { throw KeyNeeded() }
        guard try tx.insert(after) else { throw SerializationConflict() }
        try tx.insert(key, at: now)
    }
}

extension TenantDeclaration {
    /// The changes to an existing tenant.
    fileprivate var update: TenantUpdate.Params {
        TenantUpdate.Params(
            tenantId: tenantId, name: name, localAccountMethod: localAccountMethod, signUpAllowed: signUpAllowed, attributes: attributes,
            audiences: audiences, scopes: scopes, passwordPolicy: passwordPolicy, codes: codes, lockout: lockout, tokens: tokens,
            enumerationProtection: enumerationProtection, recyclesAddresses: recyclesAddresses,
            oneAccountPerAddress: oneAccountPerAddress, mfa: mfa,
            totpAdjacentIntervals: totpAdjacentIntervals, notices: notices, audienceScopes: audienceScopes, idTokenProfile: idTokenProfile,
            authenticationContexts: authenticationContexts,
            anonymousAllowed: anonymousAllowed, phoneSignIn: phoneSignIn,
            passkeys: passkeys, assurance: assurance, disabled: disabled, lockCovers: lockCovers, acceptsSmsRisk: acceptsSmsRisk,
            customTokenSigners: customTokenSigners, delegations: delegations, subjectIssuers: subjectIssuers,
            idJag: idJag, transactionTokens: transactionTokens)
    }
}
