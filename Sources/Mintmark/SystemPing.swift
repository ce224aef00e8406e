import Contract
import Platform
import ServiceContext

extension SystemService {
    /// Returns immediately, with the current time of this store.
    func ping(_ request: SystemPing.Params, _ call: any CallContext) throws -> SystemPing.Result {
        guard mintmark.configuration.testing else { return SystemPing.Result(now: SystemClock().now) }
        return SystemPing.Result(now: try mintmark.services().context.clock.now)
    }
}
