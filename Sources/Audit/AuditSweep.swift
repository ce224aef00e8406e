import ServiceContext
import Storage

extension ExpiryJob {
    /// Removes audit records past their retention.
    package static func audit(_ retention: AuditRetention) -> ExpiryJob {
        ExpiryJob(
            name: "audit records", hasWork: { try retention.hasWork(at: $1, in: $0) },
            remove: { try retention.remove(limit: $2, at: $1, in: $0) })
    }
}
