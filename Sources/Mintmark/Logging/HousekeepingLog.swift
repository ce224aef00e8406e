import Contract
import Identity
import Logging

extension Housekeeping.Reports {
    /// Writes what comes of housekeeping to a log. The heads stand there as `audit.verify` takes them.
    static func logged(to log: Logger) -> Self {
        Self(
            heads: { heads in
                let list = heads.map { head -> Logger.MetadataValue in
                    ["chain": .string(head.chain), "records": .stringConvertible(head.records), "head": .string(head.head)]
                }
                log.notice("audit heads", metadata: ["heads": .array(list)])
            },
            failure: { task, error in
                let reason = contractError(error)?.message ?? "\(error)"
                log.error("housekeeping failed and is tried again later", metadata: ["task": "\(task)", "reason": "\(reason)"])
            })
    }
}
