import JSON
import Network
import Platform

/// Posts signed messages to a service that sends them.
public struct Webhook: Sendable {
    private let endpoint: WebhookEndpoint
    private let http: any HTTPClient
    private let clock: any WallClock

    public init(_ endpoint: WebhookEndpoint, http: any HTTPClient, clock: any WallClock) {
        self.endpoint = endpoint
        self.http = http
        self.clock = clock
    }

    /// Posts a message once and waits on the calling thread for the response. Any status from 200 to 299 means that the message was
    /// accepted. Does not retry; a caller that retries must use the same ID again.
    ///
    /// - Throws: `WebhookFailure`.
    public func post(_ message: WebhookMessage, id: WebhookId, isCancelled: @escaping @Sendable () -> Bool = { false })
        throws(WebhookFailure)
    {
        // Only the status of the response matters, so a long body is truncated.
        var policy = endpoint.policy
        policy.cutsBody = true
        _ = try post(message.json.bytes, id: id, policy, isCancelled: isCancelled)
    }

    /// Posts a question once and returns the body of the response.
    ///
    /// - Parameter milliseconds: The time limit.
    /// - Throws: `WebhookFailure`.
    public func ask(
        _ question: [UInt8], id: WebhookId, within milliseconds: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(WebhookFailure) -> [UInt8] {
        var policy = endpoint.policy
        policy.timeoutMilliseconds = milliseconds
        return try post(question, id: id, policy, isCancelled: isCancelled).body
    }

    private func post(
        _ body: [UInt8], id: WebhookId, _ policy: HTTPPolicy, isCancelled: @escaping @Sendable () -> Bool
    ) throws(WebhookFailure) -> HTTPResponse {
        let now = clock.now
        let request = HTTPRequest(
            .POST, url: endpoint.url,
            headers: [
                ("Content-Type", "application/json"), ("Mintmark-Webhook-Id", "\(id)"), ("Mintmark-Webhook-Timestamp", "\(now)"),
                ("Mintmark-Webhook-Signature", endpoint.signature(of: body, id: id, at: now)),
            ], body: body, policy: policy, isCancelled: isCancelled)
        let response: HTTPResponse
        do throws(HTTPFailure) { response = try http.send(request) } catch { throw .noAnswer(error) }
        guard (200...299).contains(response.status) else {
            throw .refused(status: response.status, retryAfterSeconds: Self.retryAfterSeconds(response))
        }
        return response
    }

    /// Returns `Retry-After` in seconds (RFC 9110 section 10.2.3), at most one day. A date is ignored.
    private static func retryAfterSeconds(_ response: HTTPResponse) -> Int? {
        guard let text = response.header("retry-after"), (1...6).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text).map { min($0, 86_400) }
    }
}

/// The reason a message was not accepted. The description is a sentence for the user and contains no part of the message.
public enum WebhookFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case noAnswer(HTTPFailure)
    /// The response has a status outside 200 to 299.
    case refused(status: Int, retryAfterSeconds: Int?)

    /// Whether the receiver may have accepted the message although this is not confirmed.
    public var mayHaveArrived: Bool {
        guard case .noAnswer(let failure) = self else { return false }
        switch failure.reason {
        case .timedOut, .protocolError, .cancelled: return true
        default: return false
        }
    }

    /// Whether the same message can be accepted later.
    public var isRetryable: Bool {
        switch self {
        case .noAnswer(let failure): failure.isRetryable
        case .refused(let status, _): [408, 425, 429].contains(status) || (500...599).contains(status)
        }
    }

    public var description: String {
        switch self {
        case .noAnswer(let failure) where mayHaveArrived:
            "The webhook did not confirm the message. \(failure) The message may have been delivered."
        case .noAnswer(let failure): "The webhook is not reachable. \(failure)"
        case .refused(let status, _): "The webhook returned status \(status); a status from 200 to 299 is required."
        }
    }
}
