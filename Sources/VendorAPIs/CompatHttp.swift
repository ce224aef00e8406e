import Contract

extension CompatService {
    /// Returns the response of the emulated AWS service to an HTTP request.
    public func http(_ request: CompatHttp.Params, _ call: any CallContext) throws -> CompatHttp.Result {
        let headers = request.headers ?? [:]
        let answer = try answer(
            WireRequest(method: request.method, url: request.url, headers: headers.map { ($0.name, $0.value) }, body: request.body ?? ""),
            call)
        return CompatHttp.Result(status: answer.status, headers: Members(answer.headers.map { ($0.name, $0.value) }), body: answer.body)
    }
}
