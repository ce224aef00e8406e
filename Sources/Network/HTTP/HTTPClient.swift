/// Sends HTTP requests. Passed as a dependency, so that tests can supply the responses.
public protocol HTTPClient: Sendable {
    /// Sends a request and waits on the calling thread for the complete response. Any status is a response, not a failure.
    ///
    /// - Throws: `HTTPFailure` if there is no response, or none that the request's policy allows.
    func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse
}
