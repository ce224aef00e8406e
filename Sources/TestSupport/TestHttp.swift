import Contract
import Loopback

extension TestService {
    /// Starts a server for `compat.http` on the loopback address.
    ///
    /// - Throws: `PortUnavailable`.
    public func http(_ request: TestHttp.Params, _ call: any CallContext) throws -> TestHttp.Result {
        do { return TestHttp.Result(baseUrl: try hooks.serveHTTP(request.port.map { UInt16($0) })) } catch {
            throw PortUnavailable(port: Int64(error.port), reason: error.reason)
        }
    }
}
