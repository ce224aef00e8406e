import JSON
import Network
import ServiceContext

/// A request that pushes one token (RFC 8935 §2).
struct EventPushRequest {
    private let request: HTTPRequest

    static let timeoutMilliseconds = 10_000
    private static let maximumBytes = 16 * 1024

    init(_ receiver: EventReceiver, _ token: String, authorization: String?) {
        var policy = HTTPPolicy(
            allowsInsecureLoopback: receiver.allowInsecure, allowsPrivateNetwork: receiver.allowPrivateNetwork,
            maximumBytes: Self.maximumBytes, timeoutMilliseconds: Self.timeoutMilliseconds, maximumRedirects: 0)
        policy.cutsBody = true
        var headers = [("Content-Type", "application/secevent+jwt"), ("Accept", "application/json")]
        if let authorization { headers.append(("Authorization", authorization)) }
        request = HTTPRequest(.POST, url: receiver.url, headers: headers, body: Array(token.utf8), policy: policy)
    }

    func send(with http: any HTTPClient) -> Result<HTTPResponse, HTTPFailure> {
        do throws(HTTPFailure) { return .success(try http.send(request)) } catch { return .failure(error) }
    }
}

/// What became of a token that was pushed.
enum EventPushOutcome {
    struct Failure {
        let reason: String
        /// The time that the receiver asks for, in seconds.
        var retryAfterSeconds: Int64?
        /// Whether another attempt has no prospect.
        var isFinal = false

        init(_ reason: String) { self.reason = reason }

        var pauseReason: String {
            isFinal ? reason : "The receiver was not available for \(EventStreamRecord.Delivery.hopelessSeconds / 86_400) days. \(reason)"
        }
    }

    case accepted
    /// The receiver does not want this token, also not later (RFC 8935 §2.3).
    case refused(err: String, description: String?)
    case failed(Failure)

    private static let maximumErrorLength = 500

    init(of result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .failure(let failure): self = .failed(Failure("\(failure)"))
        case .success(let response): self.init(of: response)
        }
    }

    init(of response: HTTPResponse) {
        if 200...299 ~= response.status {
            self = .accepted
            return
        }
        let body = (try? JSONValue(parsing: response.body))?.object
        func text(_ name: String) -> String? { (body?[name]?.string).map { String($0.unicodeScalars.prefix(Self.maximumErrorLength)) } }
        // The other errors of RFC 8935 §2.4, such as `invalid_key`, end when the receiver or the stream is configured correctly.
        if response.status == 400, let err = text("err"), err == "invalid_request" {
            self = .refused(err: err, description: text("description"))
            return
        }
        let words = [text("err"), text("description")].compactMap(\.self).joined(separator: ": ")
        var failure = Failure("The receiver returned status \(response.status)\(words.isEmpty ? "" : " (\(words))").")
        failure.isFinal = response.status == 410
        failure.retryAfterSeconds = response.header("retry-after").flatMap { Int64($0) }.map { max(0, min($0, 86_400)) }
        self = .failed(failure)
    }
}

extension EventStreamRecord.Delivery {
    /// The time after which a stream whose receiver accepts nothing is paused.
    static let hopelessSeconds: Int64 = 3 * 86_400
    private static let longestPause: Int64 = 3_600

    /// Notes a failed attempt. The pauses are 1, 2, 4 and so on up to 3600 seconds.
    mutating func note(_ failure: EventPushOutcome.Failure, at now: Int64) {
        failures += 1
        failingSince = failingSince ?? now
        let pause = failures > 12 ? Self.longestPause : min(Self.longestPause, 1 << (failures - 1))
        nextAttemptAt = now + max(pause, failure.retryAfterSeconds ?? 0)
        lastError = failure.reason
    }

    func isHopeless(at now: Int64) -> Bool { failingSince.map { now - $0 >= Self.hopelessSeconds } ?? false }
}
