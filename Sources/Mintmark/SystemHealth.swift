import Contract
import ServiceContext
import Storage

extension SystemService {
    /// Checks all components that requests need, and returns a remedy for each failed check.
    func health(_ request: SystemHealth.Params, _ call: any CallContext) throws -> SystemHealth.Result {
        var checks: [HealthCheck] = []
        do {
            let database = try mintmark.services().context.database
            let facts = try database.facts()
            switch mintmark.writeProbe.finding(on: database) {
            case .failed(let error): throw error
            case .waits:
                checks.append(
                    HealthCheck(name: "store", ok: false, detail: "a write has waited for more than \(WriteProbe.limitSeconds) s"))
            case .written:
                let detail = "\(facts.kind.rawValue), schema version \(facts.schemaVersion), \(facts.bytes) bytes"
                checks.append(HealthCheck(name: "store", ok: true, detail: detail))
            }
        } catch {
            let reason = contractError(error)?.message ?? "the store failed"
            checks.append(HealthCheck(name: "store", ok: false, detail: reason))
        }
        if let services = try? mintmark.services() {
            let context = services.passkey.accounts
            for finding in (try? context.metadataFindings(at: context.clock.now)) ?? [] {
                checks.append(HealthCheck(name: "passkeyMetadata", ok: false, detail: finding.detail))
            }
        }
        let dropped = mintmark.logRing?.dropped ?? 0
        checks.append(
            HealthCheck(
                name: "log", ok: dropped == 0,
                detail: dropped == 0 ? nil : "\(dropped) log lines were dropped because standard error is not read"))
        // Dropped log lines and unreadable metadata do not make the process unready.
        return SystemHealth.Result(ready: checks.first { $0.name == "store" }?.ok ?? false, checks: checks)
    }
}
