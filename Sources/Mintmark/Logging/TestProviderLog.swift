#if !MINTMARK_WITHOUT_TEST_SUPPORT
    import Contract
    import Logging
    import TestSupport

    extension ProviderFailures {
        /// Logs requests that the test provider could not process.
        static func logged(to log: Logger) -> Self {
            Self(
                named: contractError,
                report: { request, error in
                    let reason = contractError(error)?.message ?? "\(error)"
                    log.error("a request to test.idp failed", metadata: ["request": "\(request)", "reason": "\(reason)"])
                })
        }
    }
#endif
