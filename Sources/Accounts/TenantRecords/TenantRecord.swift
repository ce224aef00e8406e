import Contract
import JSON
import ServiceContext
import Storage

/// A stored tenant. A class, because every step passes it on and a class copies only one reference.
package final class TenantRecord: Sendable {
    /// The ID of the default tenant, which always exists.
    package static let defaultId = "default"

    package let id: String
    /// The parameters of `tenant.create`, with all defaults applied.
    package let settings: TenantCreate.Params
    package let createdAt: Int64
    package let updatedAt: Int64

    package let attributes: [TenantAttribute]
    let passwordPolicy: PasswordPolicy
    let codes: CodePolicy
    let lockout: LockoutPolicy
    package let tokens: TokenLifetimes
    var audiences: [String] { settings.audiences ?? [] }
    package var scopes: [String] { settings.scopes ?? [] }
    /// The authentication contexts that require a second factor.
    var contexts: [String] { settings.authenticationContexts ?? [] }

    /// The applications by client ID. Empty in records that only carry settings.
    let applications: [String: ApplicationRecord]

    package init(
        _ settings: TenantCreate.Params, applications: [ApplicationRecord] = [], createdAt: Int64, updatedAt: Int64
    ) {
        id = settings.tenantId
        let settings = AssuranceProfile.filled(settings)
        self.settings = settings
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        attributes = settings.attributes ?? BuiltInAttribute.allCases.map { TenantAttribute(name: $0.rawValue, type: .string) }
        passwordPolicy = settings.passwordPolicy ?? PasswordPolicy()
        codes = settings.codes ?? CodePolicy()
        lockout = settings.lockout ?? LockoutPolicy()
        tokens = settings.tokens ?? TokenLifetimes()
        self.applications = Dictionary(uniqueKeysWithValues: applications.map { ($0.clientId, $0) })
    }

    /// Returns the values of a submission in stored form.
    ///
    /// - Throws: `InvalidAttributes` with every problem.
    package func accept(_ given: JSONObject, of speaker: AttributeRules.Speaker = .oneself) throws -> JSONObject {
        try AttributeRules.accepted(given, by: attributes, of: speaker)
    }

    /// Returns a developer's change of an account's attributes in stored form.
    ///
    /// - Throws: `InvalidAttributes` with every problem.
    package func acceptChange(_ given: JSONObject, of present: JSONObject) throws -> JSONObject {
        try AttributeRules.change(given, of: present, by: attributes)
    }

    /// Returns the previously accepted values that are still valid.
    func stillFitting(_ accepted: JSONObject) -> JSONObject {
        AttributeRules.stillFitting(accepted, by: attributes)
    }

    /// The tenant as the `tenant.*` methods return it.
    func answer(in realm: Deployment) -> Tenant {
        var policy = passwordPolicy
        policy.bannedTerms = policy.bannedTerms ?? []
        return Tenant(
            tenantId: id, name: settings.name, issuer: realm.issuer(of: .tenant(id)), localAccountMethod: localAccountMethod,
            signUpAllowed: settings.signUpAllowed, attributes: attributes, audiences: audiences, scopes: scopes, passwordPolicy: policy,
            codes: codes,
            lockout: lockout, tokens: tokens, delivery: settings.delivery?.shown, enumerationProtection: enumerationProtection,
            recyclesAddresses: settings.recyclesAddresses ? true : nil, oneAccountPerAddress: settings.oneAccountPerAddress, mfa: mfa,
            totpAdjacentIntervals: settings.totpAdjacentIntervals, notices: settings.notices,
            audienceScopes: settings.audienceScopes, idTokenProfile: settings.idTokenProfile ? true : nil,
            authenticationContexts: contexts.isEmpty ? nil : contexts,
            anonymousAllowed: settings.anonymousAllowed, phoneSignIn: settings.phoneSignIn == .off ? nil : settings.phoneSignIn,
            passkeys: settings.passkeys, customTokenSigners: settings.customTokenSigners,
            delegations: settings.delegations, subjectIssuers: settings.subjectIssuers, idJag: settings.idJag,
            transactionTokens: settings.transactionTokens,
            assurance: settings.assurance,
            disabled: settings.disabled, lockCovers: settings.lockCovers ?? .guessing, acceptsSmsRisk: settings.acceptsSmsRisk,
            signingAlgorithm: settings.signingAlgorithm,
            assuranceGaps: AssuranceLimit.gaps(of: settings, with: settings.assurance).map(\.requirement), createdAt: createdAt,
            updatedAt: updatedAt)
    }

    /// The settings in stored form: the parameters of `tenant.create` that would recreate the tenant.
    package var storedSettings: JSONObject {
        var writer = JSONWriter(reservingCapacity: 2048)
        var answer = answer(in: Deployment())
        answer.delivery = settings.delivery
        answer.write(to: &writer)
        guard var object = (try? JSONValue(parsing: writer.bytes))?.object else { return [:] }
        for derived in ["issuer", "assuranceGaps", "createdAt", "updatedAt"] { object[derived] = nil }
        return object
    }
}

extension Transaction {
    /// Returns the tenant, or `nil` if it does not exist. The default tenant exists even without a stored row.
    package func tenant(_ id: String) throws -> TenantRecord? {
        let stored = try queryOne("SELECT settings, created_at, updated_at FROM tenant WHERE id = $1", id, row: TenantRecord.init)
        let isDefault = id == TenantRecord.defaultId
        guard let found = stored ?? (isDefault ? TenantRecord(TenantCreate.Params(tenantId: id), createdAt: 0, updatedAt: 0) : nil) else {
            return nil
        }
        let applications = try applications(of: id, after: "", limit: ApplicationRecord.most)
        if applications.isEmpty { return found }
        return TenantRecord(found.settings, applications: applications, createdAt: found.createdAt, updatedAt: found.updatedAt)
    }

    package func tenants(after id: String, limit: Int) throws -> [TenantRecord] {
        var found = try query(
            "SELECT settings, created_at, updated_at FROM tenant WHERE id > $1 ORDER BY id LIMIT $2", id, limit, row: TenantRecord.init)
        let first = TenantRecord.defaultId
        if id.utf8.lexicographicallyPrecedes(first.utf8), !found.contains(where: { $0.id == first }), let tenant = try tenant(first) {
            found.insert(tenant, at: found.firstIndex { !$0.id.utf8.lexicographicallyPrecedes(first.utf8) } ?? found.endIndex)
        }
        return Array(found.prefix(limit))
    }

    /// Adds a tenant. Returns `false` if its ID is in use.
    package func insert(_ tenant: TenantRecord) throws -> Bool {
        guard tenant.id != TenantRecord.defaultId else { return false }
        return try execute(
            "INSERT INTO tenant (id, settings, created_at, updated_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
            tenant.id, JSONValue.object(tenant.storedSettings).text, tenant.createdAt, tenant.updatedAt) == 1
    }

    /// Replaces the settings of a tenant.
    package func update(_ tenant: TenantRecord) throws {
        try execute(
            """
            INSERT INTO tenant (id, settings, created_at, updated_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at
            """, tenant.id, JSONValue.object(tenant.storedSettings).text, tenant.createdAt, tenant.updatedAt)
    }

    /// Deletes a tenant. Returns `false` if it does not exist.
    func deleteTenant(_ id: String) throws -> Bool { try execute("DELETE FROM tenant WHERE id = $1", id) == 1 }
}

extension TenantRecord {
    fileprivate convenience init(_ row: Row) throws {
        let settings = try TenantCreate.Params(decoding: JSONText(row.string(0)).root)
        self.init(settings, createdAt: row.int(1), updatedAt: row.int(2))
    }
}
