import Contract
import Logging
import TestSupport

extension ProviderFailures {
    /// Writes what the provider for tests could not answer to a log.
    static func logged(to log: Logger) -> Self {
        Self(
            named: contractError,
            report: { request, error in
                let reason = contractError(error)?.message ?? "\(error)"
                log.error("a request to test.idp failed", metadata: ["request": "\(request)", "reason": "\(reason)"])
            })
    }
}
