import JSON
import Testing

@testable import Network

/// The rule for what a request for a discovery document leads to.
@Suite struct DescriptionStateTests {
    static let second: UInt64 = 1_000_000_000
    let document: JSONNode

    init() throws { document = try JSONText("{}").root }

    func decision(_ state: DescriptionState, at seconds: UInt64) -> String {
        switch state.decide(at: seconds * Self.second) {
        case .answer: "answer"
        case .fail(let failure): "fail \(failure.check)"
        case .ask: "ask"
        case .join: "join"
        }
    }

    func fetched() -> DescriptionState {
        ended(DescriptionState(), at: 1000, .success(PublishedDescription(document: document, lifetimeSeconds: 3600)))
    }

    func ended(
        _ state: DescriptionState, at seconds: UInt64, _ result: Result<PublishedDescription, IssuerFailure>
    ) -> DescriptionState {
        var state = state
        state.begin(at: seconds * Self.second)
        state.end(result, at: seconds * Self.second)
        return state
    }

    @Test("an issuer that was never asked is asked, by one caller at a time")
    func first() {
        var state = DescriptionState()
        #expect(decision(state, at: 1000) == "ask")
        state.begin(at: 1000 * Self.second)
        #expect(decision(state, at: 1000) == "join")
    }

    @Test("a document serves for its lifetime, then the issuer is asked again while the document serves the others")
    func lifetime() {
        var state = fetched()
        #expect(decision(state, at: 4599) == "answer")
        #expect(decision(state, at: 4600) == "ask")
        state.begin(at: 4600 * Self.second)
        #expect(decision(state, at: 4600) == "answer")
    }

    @Test("a document serves for one more day while the issuer cannot be asked, which is tried every 30 seconds")
    func outage() {
        let state = ended(fetched(), at: 4600, .failure(IssuerFailure(.unavailable, "")))
        #expect(decision(state, at: 4629) == "answer")
        #expect(decision(state, at: 4630) == "ask")
        let late = ended(state, at: 91_000, .failure(IssuerFailure(.unavailable, "")))
        #expect(decision(late, at: 91_001) == "fail unavailable")
    }

    @Test("an issuer that failed is not asked for five seconds; a canceled request changes nothing")
    func pause() {
        let failed = ended(DescriptionState(), at: 1000, .failure(IssuerFailure(.document, "")))
        #expect(decision(failed, at: 1004) == "fail document")
        #expect(decision(failed, at: 1005) == "ask")
        var forgiven = failed
        forgiven.forgetFailure()
        #expect(decision(forgiven, at: 1001) == "ask")
        #expect(decision(ended(DescriptionState(), at: 1000, .failure(IssuerFailure(.cancelled, ""))), at: 1001) == "ask")
    }
}
