import Accounts
import Contract
import ServiceContext
import Storage

/// The declared hooks of a tenant with their stored state.
struct PlannedHooksEntry {
    let place: Int
    let hooks: PlannedHooks
    let difference: Difference

    var writes: Bool { difference.change != .unchanged }

    /// Plans the declared hooks.
    static func all(
        _ declarations: [HooksDeclaration], _ service: HooksService, isTenant: (String) throws -> Bool, in tx: Transaction,
        _ problems: inout ApplyProblems
    ) throws -> [PlannedHooksEntry] {
        var names: Set<String> = []
        return try declarations.enumerated().compactMap { place, declaration in
            let pointer = "/hooks/\(place)"
            guard names.insert(declaration.tenantId).inserted else {
                problems.add(
                    pointer + "/tenantId", rule: "duplicate", "The hooks of tenant \(declaration.tenantId) occur twice in the document.")
                return nil
            }
            guard try isTenant(declaration.tenantId) else {
                problems.add(pointer + "/tenantId", rule: TenantNotFound.type, TenantNotFound(tenantId: declaration.tenantId).message)
                return nil
            }
            do {
                let planned = try PlannedHooks(declaration, by: service, in: tx)
                let difference = Difference(isNew: planned.isNew, planned.changed.map { ($0, true) })
                return PlannedHooksEntry(place: place, hooks: planned, difference: difference)
            } catch let error as InvalidTenantSettings {
                problems.add(pointer + error.pointer, rule: InvalidTenantSettings.type, "The setting is not valid: \(error.reason).")
            } catch let error as HooksNotOffered {
                problems.add("\(pointer)/\(error.hook.rawValue)", rule: HooksNotOffered.type, error.message)
            }
            return nil
        }
    }

    var answer: AppliedChange {
        AppliedChange(
            pointer: "/hooks/\(place)", kind: .hooks, name: hooks.tenantId, tenantId: hooks.tenantId, change: difference.change,
            changed: difference.changed)
    }
}
