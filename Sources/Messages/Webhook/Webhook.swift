import JSON
import Network
import Platform

/// Posts messages, signed, to somebody who sends them.
public struct Webhook: Sendable {
    private let endpoint: WebhookEndpoint
    private let http: any HTTPClient
    private let clock: any WallClock

    public init(_ endpoint: WebhookEndpoint, http: any HTTPClient, clock: any WallClock) {
        self.endpoint = endpoint
        self.http = http
        self.clock = clock
    }

    /// Posts a message once and waits for the answer on the calling thread: any status from 200 to 299 means that it was taken. Nothing is
    /// repeated here; who repeats it gives the same id again.
    ///
    /// - Throws: `WebhookFailure`.
    public func post(_ message: WebhookMessage, id: WebhookId, isCancelled: @escaping @Sendable () -> Bool = { false })
        throws(WebhookFailure)
    {
        let body = message.json.bytes
        let now = clock.now
        // What it answers beside the status does not matter, however long it is.
        var policy = endpoint.policy
        policy.cutsBody = true
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
    }

    /// `Retry-After` in seconds (RFC 9110 section 10.2.3), at most a day; a date is not read.
    private static func retryAfterSeconds(_ response: HTTPResponse) -> Int? {
        guard let text = response.header("retry-after"), (1...6).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text).map { min($0, 86_400) }
    }
}

/// Why a message was not taken. Its sentence is for people; it holds nothing of the message.
public enum WebhookFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case noAnswer(HTTPFailure)
    /// A status other than 200 to 299.
    case refused(status: Int, retryAfterSeconds: Int?)

    /// Whether the receiver may have taken the message, and nobody knows.
    public var mayHaveArrived: Bool {
        guard case .noAnswer(let failure) = self else { return false }
        switch failure.reason {
        case .timedOut, .protocolError, .cancelled: return true
        default: return false
        }
    }

    /// Whether the same message may be taken a little later.
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
