import Network
import Platform
import ServiceContext

extension Configuration {
    /// Asks other machines; in a test also those that a test makes fail.
    func httpClient(_ faults: Faults?) -> any HTTPClient {
        let client = CurlClient(outgoing)
        return faults.map { FaultableHTTP(client: client, faults: $0) } ?? client
    }
}

/// Other machines as a test wants them to be.
struct FaultableHTTP: HTTPClient {
    let client: any HTTPClient
    let faults: Faults

    func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        switch faults.trouble(at: request.url) {
        case nil: break
        case .down: throw HTTPFailure(.unreachable, at: Self.origin(of: request.url))
        case .slow(let milliseconds): try wait(milliseconds, request)
        }
        return try client.send(request)
    }

    /// Waits as one does for an answer: no longer than the request allows, and not for a call that was cancelled.
    private func wait(_ milliseconds: Int64, _ request: HTTPRequest) throws(HTTPFailure) {
        let limit = Int64(request.policy.timeoutMilliseconds)
        let deadline = Monotonic.nanoseconds() + UInt64(min(milliseconds, limit)) * 1_000_000
        let nobody = Gate(())
        while Monotonic.nanoseconds() < deadline {
            if request.isCancelled() { throw HTTPFailure(.cancelled, at: Self.origin(of: request.url)) }
            _ = nobody.wait(deadline: min(deadline, Monotonic.nanoseconds() + 100_000_000)) { _ -> Void? in nil }
        }
        if milliseconds >= limit { throw HTTPFailure(.timedOut(milliseconds: Int(limit)), at: Self.origin(of: request.url)) }
    }

    /// Scheme, host and port: nothing of the path, which may hold secrets.
    private static func origin(of url: String) -> String {
        guard let start = url.firstRange(of: "://") else { return "" }
        return String(url[..<start.upperBound] + url[start.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }
}
