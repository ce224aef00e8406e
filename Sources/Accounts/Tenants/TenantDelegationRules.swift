import Contract

extension TenantRules {
    /// - Throws: `InvalidTenantSettings` if a delegation names an audience that the tenant does not have.
    static func checkDelegations(_ settings: TenantCreate.Params) throws {
        for (place, entry) in (settings.delegations ?? []).enumerated() {
            for (position, audience) in entry.audiences.enumerated()
            where audience != settings.tenantId && settings.audiences?.contains(audience) != true {
                throw InvalidTenantSettings(
                    pointer: "/delegations/\(place)/audiences/\(position)", reason: "audiences does not contain it; add it there")
            }
        }
    }

    /// - Throws: `InvalidTenantSettings` if an entry repeats an issuer or an application, or names an audience that the tenant does not
    ///   have.
    static func checkSubjectIssuers(_ settings: TenantCreate.Params) throws {
        var seen: Set<String> = []
        for (place, entry) in (settings.subjectIssuers ?? []).enumerated() {
            guard seen.insert(entry.issuer).inserted else {
                throw InvalidTenantSettings(pointer: "/subjectIssuers/\(place)/issuer", reason: "the issuer occurs twice")
            }
            for (position, audience) in entry.audiences.enumerated()
            where audience != settings.tenantId && settings.audiences?.contains(audience) != true {
                throw InvalidTenantSettings(
                    pointer: "/subjectIssuers/\(place)/audiences/\(position)", reason: "audiences does not contain it; add it there")
            }
        }
        var targets: Set<[String]> = []
        for (place, entry) in (settings.idJag ?? []).enumerated() {
            for (position, audience) in entry.audiences.enumerated() where !targets.insert([entry.clientId, audience]).inserted {
                throw InvalidTenantSettings(
                    pointer: "/idJag/\(place)/audiences/\(position)", reason: "the application already has an entry for this audience")
            }
        }
    }
}
