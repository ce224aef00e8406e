import Contract
import Loopback

extension TestService {
    /// Starts a server for `compat.http` on the loopback address.
    ///
    /// - Throws: `PortUnavailable`, and the errors of the store.
    public func http(_ request: TestHttp.Params, _ call: any CallContext) throws -> TestHttp.Result {
        let project = request.firebase?.projectId
        if let project { try hooks.openFirebase(project, call) }
        let url: String
        do { url = try hooks.serveHTTP(request) } catch {
            throw PortUnavailable(port: Int64(error.port), reason: error.reason)
        }
        guard let project else { return TestHttp.Result(baseUrl: url) }
        return TestHttp.Result(
            baseUrl: url,
            environment: Members([("FIREBASE_AUTH_EMULATOR_HOST", String(url.dropFirst("http://".count))), ("GCLOUD_PROJECT", project)]))
    }
}
