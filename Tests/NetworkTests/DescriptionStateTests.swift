import JSON
import Testing

@testable import Network

/// The decision to return, fetch or await a discovery document.
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

    @Test("an unknown issuer is fetched by one caller, and other callers join")
    func first() {
        var state = DescriptionState()
        #expect(decision(state, at: 1000) == "ask")
        state.begin(at: 1000 * Self.second)
        #expect(decision(state, at: 1000) == "join")
    }

    @Test("a document is valid for its lifetime; then one caller fetches it again while others use the old document")
    func lifetime() {
        var state = fetched()
        #expect(decision(state, at: 4599) == "answer")
        #expect(decision(state, at: 4600) == "ask")
        state.begin(at: 4600 * Self.second)
        #expect(decision(state, at: 4600) == "answer")
    }

    @Test("if the issuer is unavailable, its document is valid for one more day and fetched again every 30 seconds")
    func outage() {
        let state = ended(fetched(), at: 4600, .failure(IssuerFailure(.unavailable, "")))
        #expect(decision(state, at: 4629) == "answer")
        #expect(decision(state, at: 4630) == "ask")
        let late = ended(state, at: 91_000, .failure(IssuerFailure(.unavailable, "")))
        #expect(decision(late, at: 91_001) == "fail unavailable")
    }

    @Test("after a failure, the issuer is not contacted for five seconds; a canceled request has no effect")
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
