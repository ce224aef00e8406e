import JSONRPC
import Logging

/// Logs calls: those that were refused at the level debug, all others at trace. Parameters and results are secrets and stay out.
struct CallLog {
    private let log: Logger

    init(_ log: Logger) { self.log = log }

    /// What is to be told of calls, nil if nothing of it would be logged.
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
