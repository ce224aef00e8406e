import Network
import ServiceContext
import Testing

@testable import Mintmark

@Suite struct EventPushTests {
    @Test(
        "the response of a receiver decides what happens to the token",
        arguments: [
            (200, "", "accepted"), (202, "", "accepted"), (204, "", "accepted"), (299, "", "accepted"),
            (400, #"{"err": "invalid_request"}"#, "refused"), (400, #"{"err": "invalid_key"}"#, "failed"),
            (400, #"{"err": "invalid_audience"}"#, "failed"), (400, #"{"err": 1}"#, "failed"), (400, "[", "failed"), (400, "", "failed"),
            (401, #"{"err": "invalid_request"}"#, "failed"), (302, "", "failed"), (404, "", "failed"), (410, "", "final"),
            (500, "", "failed"),
        ])
    func outcomes(status: Int, body: String, expected: String) {
        let outcome = EventPushOutcome(of: HTTPResponse(status: status, body: Array(body.utf8)))
        let found =
            switch outcome {
            case .accepted: "accepted"
            case .refused: "refused"
            case .failed(let failure): failure.isFinal ? "final" : "failed"
            }
        #expect(found == expected)
    }

    @Test(
        "the receiver can only ask for a longer pause, of at most a day",
        arguments: [("0", 0), ("-5", 0), ("120", 120), ("999999", 86_400), ("99999999999999999999", nil), ("Fri, 1 Jan", nil), ("", nil)])
    func retryAfter(text: String, expected: Int64?) {
        let outcome = EventPushOutcome(of: HTTPResponse(status: 503, headers: [("Retry-After", text)]))
        guard case .failed(let failure) = outcome else {
            Issue.record("not a failure")
            return
        }
        #expect(failure.retryAfterSeconds == expected)
    }

    @Test("pauses double up to an hour, and the receiver is hopeless after three days")
    func pauses() {
        var delivery = EventStreamRecord.Delivery()
        var pauses: [Int64] = []
        for _ in 0..<70 {
            delivery.note(.init("down"), at: 1_000)
            pauses.append(delivery.nextAttemptAt - 1_000)
        }
        #expect(Array(pauses.prefix(12)) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048])
        #expect(pauses.dropFirst(12).allSatisfy { $0 == 3_600 })
        #expect(delivery.failingSince == 1_000 && delivery.failures == 70)
        #expect(!delivery.isHopeless(at: 1_000 + 3 * 86_400 - 1))
        #expect(delivery.isHopeless(at: 1_000 + 3 * 86_400))
    }
}
