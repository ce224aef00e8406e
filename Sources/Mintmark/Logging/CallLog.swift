import JSONRPC
import Logging

/// Logs calls: failed calls at level debug, all other calls at level trace. Parameters and results may contain secrets and are not logged.
struct CallLog {
    private let log: Logger

    init(_ log: Logger) { self.log = log }

    /// The observer of calls, or `nil` if the log level excludes all entries.
    var listener: (@Sendable (Call, CallReport) -> Void)? {
        guard log.logLevel <= .debug else { return nil }
        return { [log] call, report in
            var facts: Logger.Metadata = [
                "method": "\(call.method)", "microseconds": .stringConvertible(Int64(report.durationNanoseconds / 1_000)),
            ]
            if let trace = call.trace { facts["trace"] = "\(trace)" }
            guard let error = report.errorType else { return log.trace("answered", metadata: facts) }
            facts["type"] = "\(error)"
            log.debug("refused", metadata: facts)
        }
    }
}
