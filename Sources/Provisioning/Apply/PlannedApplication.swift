import Accounts
import Contract
import ServiceContext
import Storage

/// A declared application with its stored state.
struct PlannedApplication {
    let place: Int
    let after: ApplicationRecord
    let difference: Difference

    var writes: Bool { difference.change != .unchanged }

    /// - Parameters:
    ///   - newId: The internal ID of the application if it is new.
    ///   - tenant: The tenant as the document leaves it.
    /// - Returns: `nil` if the settings are not valid. A violation is then added.
    init?(
        _ declared: Declared<ApplicationDeclaration>, newId: String, of tenant: TenantRecord, _ facts: ApplyFacts,
        _ problems: inout ApplyProblems
    ) throws {
        let (place, declaration, tx) = (declared.place, declared.declaration, facts.tx)
        do { after = try tx.plan(declaration.settings, of: tenant, newId: newId, at: facts.now) } catch let error as InvalidApplication {
            problems.add("/applications/\(place)\(error.pointer)", rule: InvalidApplication.type, error.message)
            return nil
        } catch let error as TooManyApplications {
            problems.add("/applications/\(place)", rule: TooManyApplications.type, error.message)
            return nil
        }
        self.place = place
        let existing = try tx.application(declaration.clientId, of: declaration.tenantId)
        let (old, new) = (existing?.stored ?? [:], after.stored)
        difference = Difference(isNew: existing == nil, Self.members.map { ($0, old[$0] != new[$0]) })
    }

    /// The members that a document can change, in the order of the declaration.
    private static let members = ["name", "type", "nativeAuthentication", "redirectUris", "origins", "audiences", "scopes", "consent"]

    /// Plans the declared applications.
    static func all(
        _ declarations: [Declared<ApplicationDeclaration>], newIds: [String], of tenants: [PlannedTenant], _ facts: ApplyFacts,
        _ problems: inout ApplyProblems
    ) throws -> [PlannedApplication] {
        var names: Set<[String]> = []
        return try declarations.compactMap { declared in
            let (place, declaration) = (declared.place, declared.declaration)
            guard names.insert([declaration.tenantId, declaration.clientId]).inserted else {
                problems.add(
                    "/applications/\(place)/clientId", rule: "duplicate",
                    "Application \(declaration.clientId) of tenant \(declaration.tenantId) occurs twice in the document.")
                return nil
            }
            let planned = tenants.first { $0.after.id == declaration.tenantId }?.after
            guard let tenant = try planned ?? facts.tx.tenant(declaration.tenantId) else {
                problems.add(
                    "/applications/\(place)/tenantId", rule: TenantNotFound.type, TenantNotFound(tenantId: declaration.tenantId).message)
                return nil
            }
            return try PlannedApplication(declared, newId: newIds[place], of: tenant, facts, &problems)
        }
    }

    var answer: AppliedChange {
        AppliedChange(
            pointer: "/applications/\(place)", kind: .application, name: after.clientId, tenantId: after.tenantId,
            change: difference.change, changed: difference.changed)
    }
}

extension ApplicationDeclaration {
    /// The parameters of `application.put`.
    fileprivate var settings: ApplicationPut.Params {
        ApplicationPut.Params(
            tenantId: tenantId, clientId: clientId, name: name, type: type, nativeAuthentication: nativeAuthentication,
            redirectUris: redirectUris, origins: origins, audiences: audiences, scopes: scopes, consent: consent)
    }
}
