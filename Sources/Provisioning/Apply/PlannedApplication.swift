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
        _ declaration: ApplicationDeclaration, at place: Int, newId: String, of tenant: TenantRecord, now: Int64, in tx: Transaction,
        _ problems: inout ApplyProblems
    ) throws {
        do { after = try tx.plan(declaration.settings, of: tenant, newId: newId, at: now) } catch let error as InvalidApplication {
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
        _ declarations: [ApplicationDeclaration], _ newIds: [String], tenants: [PlannedTenant], now: Int64, in tx: Transaction,
        _ problems: inout ApplyProblems
    ) throws -> [PlannedApplication] {
        var names: Set<[String]> = []
        return try declarations.enumerated().compactMap { place, declaration in
            guard names.insert([declaration.tenantId, declaration.clientId]).inserted else {
                problems.add(
                    "/applications/\(place)/clientId", rule: "duplicate",
                    "Application \(declaration.clientId) of tenant \(declaration.tenantId) occurs twice in the document.")
                return nil
            }
            let planned = tenants.first { $0.after.id == declaration.tenantId }?.after
            guard let tenant = try planned ?? tx.tenant(declaration.tenantId) else {
                problems.add(
                    "/applications/\(place)/tenantId", rule: TenantNotFound.type, TenantNotFound(tenantId: declaration.tenantId).message)
                return nil
            }
            return try PlannedApplication(
                declaration, at: place, newId: newIds[place], of: tenant, now: now, in: tx, &problems)
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
