import Contract
import Platform
import ServiceContext

extension SystemService {
    /// Answers at once, with the time as this store sees it.
    func ping(_ request: SystemPing.Params, _ call: any CallContext) throws -> SystemPing.Result {
        guard mintmark.configuration.testing else { return SystemPing.Result(now: SystemClock().now) }
        return SystemPing.Result(now: try mintmark.services().surroundings.clock.now)
    }
}
