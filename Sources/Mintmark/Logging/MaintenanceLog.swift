import Contract
import Logging

extension MaintenanceScheduler.Reports {
    /// Logs the outcome of housekeeping, and appends the heads of the audit log to a file if one is configured. The heads have the format
    /// that `audit.verify` accepts. The heads at shutdown are logged at level debug, so that a normal exit logs nothing by default.
    static func logged(to log: Logger, headsFile: AuditHeadsFile?) -> Self {
        Self(
            heads: { heads, isLast in
                let list = heads.map { head -> Logger.MetadataValue in
                    ["chain": .string(head.chain), "records": .stringConvertible(head.records), "head": .string(head.head)]
                }
                log.log(level: isLast ? .debug : .notice, "audit heads", metadata: ["heads": .array(list)])
                do throws(OpenedTraceFile.Unusable) { try headsFile?.append(heads) } catch {
                    log.error("the heads of the audit log were not written to their file", metadata: ["reason": "it \(error.reason)"])
                }
            },
            failure: { task, error in
                let reason = contractError(error)?.message ?? "\(error)"
                log.error("housekeeping failed and will be retried", metadata: ["task": "\(task)", "reason": "\(reason)"])
            })
    }
}
