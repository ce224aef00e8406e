/// Sends requests to the outside. Handed in wherever something must be fetched, so that tests can answer instead.
public protocol HTTPClient: Sendable {
    /// Sends a request and waits for the whole answer on the calling thread. Any status is an answer, not a failure.
    ///
    /// - Throws: `HTTPFailure` when there is no answer, or none that the request's policy allows.
    func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse
}
