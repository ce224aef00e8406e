import Contract

extension TenantService {
    /// Compares the settings of a tenant with the requirements of a profile.
    ///
    /// - Throws: `TenantNotFound`.
    public func checkAssurance(
        _ request: TenantCheckAssurance.Params, _ call: any CallContext
    ) throws -> TenantCheckAssurance.Result {
        let tenant = try context.database.read { try configurations.tenant(request.tenantId, in: $0) }
        let own: Assurance = tenant.hasProfile ? tenant.settings.assurance : .asvsL2
        let profile = request.assurance.flatMap { Assurance(rawValue: $0.rawValue) } ?? own
        let conflicts =
            AssuranceLimit.conflicts(of: tenant.settings, with: profile) + AssuranceLimit.gaps(of: tenant.settings, with: profile)
        let standard = profile == .asvsL2 ? "asvs " : "nist "
        let requirements = AssuranceTable.requirements.filter { $0.number.hasPrefix(standard) }.map { known in
            var requirement = known
            let settings = conflicts.filter { $0.requirement == known.number }
            if !settings.isEmpty {
                requirement.status = .gap
                requirement.settings = settings
            }
            return requirement
        }
        return TenantCheckAssurance.Result(
            tenantId: tenant.id, assurance: profile, conflicts: conflicts, requirements: requirements)
    }

    /// Returns the tenants that leave requirements of their profile open, with the numbers of these requirements.
    public func tenantsWithGaps() throws -> [(tenantId: String, assurance: String, gaps: [String])] {
        try context.database.read { tx in
            var found: [(tenantId: String, assurance: String, gaps: [String])] = []
            var after = ""
            while true {
                let page = try tx.tenants(after: after, limit: 100)
                for tenant in page where tenant.hasProfile {
                    let gaps = AssuranceLimit.gaps(of: tenant.settings, with: tenant.settings.assurance)
                    found.append((tenant.id, tenant.settings.assurance.rawValue, gaps.map(\.requirement)))
                }
                guard let last = page.last else { return found }
                after = last.id
            }
        }
    }
}
