import Contract
import IdentityPools

extension CompatService {
    /// Returns the response of the emulated service to an HTTP request.
    public func http(_ request: CompatHttp.Params, _ call: any CallContext) throws -> CompatHttp.Result {
        try SourceAddress.check(request.sourceIp)
        let headers = request.headers ?? [:]
        let wire = WireRequest(
            method: request.method, url: request.url, headers: headers.map { ($0.name, $0.value) }, body: request.body ?? "",
            sourceIp: request.sourceIp)
        let endpoint = request.firebase.map { FirebaseEndpoint.hosted(projectId: $0.projectId, isAdministrator: $0.administrator) }
        let answer = try endpoint.map { try firebase.answer(wire, at: $0, call) } ?? answer(wire, call)
        return CompatHttp.Result(status: answer.status, headers: Members(answer.headers.map { ($0.name, $0.value) }), body: answer.body)
    }
}
