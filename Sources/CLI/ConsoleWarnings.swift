import Accounts
import Contract
import IdentityPools
import Mintmark
import ServiceContext
import Storage

/// The problems that `mintmark doctor` reports and that are found quickly: all except damaged pages.
enum ConsoleWarnings {
    static func all(_ mintmark: Mintmark) -> [String] {
        var found: [String] = []
        func check(_ body: () throws -> Void) { do { try body() } catch { found.append(Printing.reason(error)) } }
        let say = { (isGood: Bool, text: String) in if !isGood { found.append(text) } }
        check {
            let services = try mintmark.services()
            let facts = try services.context.database.facts()
            if facts.kind == .sqlite, let path = facts.path { try Doctor.checkModes(path, say) }
            check { try services.context.database.tryToWrite() }
            found += try Doctor.namelessTenants(services)
            for flaw in try services.tenant.unusablePatterns() {
                found.append("No value of the attribute \(flaw.attribute) of tenant \(flaw.tenantId) is accepted, because \(flaw.reason).")
            }
            for role in try services.role.rolesWithoutPool() {
                found.append("The trust policy of \(role) has a statement that names no pool and allows nothing.")
            }
        }
        return found
    }
}
