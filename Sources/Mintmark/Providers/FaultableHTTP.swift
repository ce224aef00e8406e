import Network
import Platform
import ServiceContext

extension Configuration {
    /// Returns the client for requests to other machines. In a testing store, it applies injected faults.
    func httpClient(_ faults: Faults?) -> any HTTPClient {
        let client = CurlClient(outgoing)
        return faults.map { FaultableHTTP(client: client, faults: $0, options: outgoing) } ?? client
    }
}

/// An HTTP client that applies injected faults.
struct FaultableHTTP: HTTPClient {
    let client: any HTTPClient
    let faults: Faults
    var options = CurlClient.Options()

    func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        let request = options.limited(request)
        switch faults.trouble(at: request.url) {
        case nil: break
        case .down: throw HTTPFailure(.unreachable, at: Self.origin(of: request.url))
        case .slow(let milliseconds): try wait(milliseconds, request)
        }
        return try client.send(request)
    }

    /// Delays the request, limited by its timeout and its cancellation.
    private func wait(_ milliseconds: Int64, _ request: HTTPRequest) throws(HTTPFailure) {
        let limit = Int64(request.policy.timeoutMilliseconds)
        let deadline = Monotonic.nanoseconds() + UInt64(min(milliseconds, limit)) * 1_000_000
        let nobody = ConditionLock(())
        while Monotonic.nanoseconds() < deadline {
            if request.isCancelled() { throw HTTPFailure(.cancelled, at: Self.origin(of: request.url)) }
            _ = nobody.wait(deadline: min(deadline, Monotonic.nanoseconds() + 100_000_000)) { _ -> Void? in nil }
        }
        if milliseconds >= limit { throw HTTPFailure(.timedOut(milliseconds: Int(limit)), at: Self.origin(of: request.url)) }
    }

    /// Returns the scheme, host and port, without the path, which may contain secrets.
    private static func origin(of url: String) -> String { (try? HTTPURL(url))?.origin ?? "" }
}
