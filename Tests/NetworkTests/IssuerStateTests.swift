import Crypto
import JSON
import Testing

@testable import Network

/// The decision to use, renew or fetch an issuer's keys for a token.
@Suite struct IssuerStateTests {
    static let second: UInt64 = 1_000_000_000
    let known: JWSHeader
    let unknown: JWSHeader
    let published: PublishedKeys

    init() throws {
        let key = try PrivateKey.generate(.ES256)
        known = try header(kid: key.keyID)
        unknown = try header(kid: "unknown")
        published = PublishedKeys(set: JWKSet([key.publicKey]), lifetimeSeconds: 3600)
    }

    /// The name of a decision in these tests.
    func decision(_ state: IssuerState, _ header: JWSHeader, at seconds: UInt64) -> String {
        switch state.decide(header, at: seconds * Self.second) {
        case .answer(let key): key == nil ? "none" : "key"
        case .answerAndRenew: "key, renew"
        case .fail(let failure): "fail \(failure.check)"
        case .ask: "ask"
        case .join: "join"
        }
    }

    /// A state with keys fetched at second 1000.
    func fetched(for header: JWSHeader? = nil) -> IssuerState {
        var state = IssuerState()
        state.begin(at: 1000 * Self.second)
        state.end(.success(published), for: header ?? known, at: 1000 * Self.second)
        return state
    }

    func failed(_ state: IssuerState, at seconds: UInt64, _ check: IssuerFailure.Check = .unavailable) -> IssuerState {
        var state = state
        state.begin(at: seconds * Self.second)
        state.end(.failure(IssuerFailure(check, "")), for: known, at: seconds * Self.second)
        return state
    }

    @Test("an unknown issuer is fetched by one caller, and other callers join")
    func first() {
        var state = IssuerState()
        #expect(decision(state, known, at: 1000) == "ask")
        state.begin(at: 1000 * Self.second)
        #expect(decision(state, known, at: 1000) == "join")
    }

    @Test("after a failure, the issuer is not contacted for five seconds")
    func pause() {
        let state = failed(IssuerState(), at: 1000, .document)
        #expect(decision(state, known, at: 1004) == "fail document")
        #expect(decision(state, known, at: 1005) == "ask")
    }

    @Test("expired keys are used for 10 minutes while new ones are fetched, then only if the issuer is unavailable")
    func ages() {
        #expect(decision(fetched(), known, at: 4599) == "key")
        #expect(decision(fetched(), known, at: 4600) == "key, renew")
        #expect(decision(fetched(), known, at: 5199) == "key, renew")
        #expect(decision(fetched(), known, at: 5200) == "ask")
        var renewing = fetched()
        renewing.begin(at: 5200 * Self.second)
        #expect(decision(renewing, known, at: 5201) == "key")
        #expect(decision(renewing, unknown, at: 5201) == "join")
    }

    @Test("if the issuer is unavailable, its keys are valid for one more day and fetched again every 30 seconds")
    func down() {
        let state = failed(fetched(), at: 5200)
        #expect(decision(state, known, at: 5229) == "key")
        #expect(decision(state, known, at: 5230) == "ask")
        #expect(decision(state, unknown, at: 5229) == "fail unavailable")
        let last = failed(state, at: 4600 + 86_399)
        #expect(decision(last, known, at: 4600 + 86_399) == "key")
        #expect(decision(last, known, at: 4600 + 86_400) == "fail unavailable")
    }

    @Test("an unknown key ID causes at most one request in 30 seconds")
    func unknownKid() {
        #expect(decision(fetched(), unknown, at: 1001) == "ask")
        var state = fetched()
        state.begin(at: 1001 * Self.second)
        state.end(.success(published), for: unknown, at: 1001 * Self.second)
        #expect(decision(state, unknown, at: 1030) == "none")
        #expect(decision(state, known, at: 1030) == "key")
        #expect(decision(state, unknown, at: 1031) == "ask")
        #expect(decision(fetched(for: unknown), unknown, at: 1001) == "none")
    }

    @Test("an unknown key ID does not suppress a request for another one, up to a limit of unknown key IDs")
    func manyUnknown() throws {
        var state = fetched(for: unknown)
        #expect(decision(state, try header(kid: "rotated"), at: 1001) == "ask")
        for number in 1..<IssuerState.mostUnknown {
            let next = try header(kid: "\(number)")
            #expect(decision(state, next, at: 1002) == "ask")
            state.begin(at: 1002 * Self.second)
            state.end(.success(published), for: next, at: 1002 * Self.second)
        }
        #expect(decision(state, try header(kid: "rotated"), at: 1003) == "fail unavailable")
        #expect(decision(state, unknown, at: 1003) == "none")
        #expect(decision(state, known, at: 1003) == "key")
        #expect(decision(state, try header(kid: "rotated"), at: 1030) == "ask")
    }

    @Test("a canceled request has no effect")
    func cancelled() {
        #expect(decision(failed(IssuerState(), at: 1000, .cancelled), known, at: 1000) == "ask")
        #expect(decision(failed(fetched(), at: 1001, .cancelled), unknown, at: 1001) == "ask")
    }
}

/// The header of a token with this key ID.
func header(kid: String) throws -> JWSHeader {
    let token = try JWSSigner(try PrivateKey.generate(.ES256), type: "JWT", keyID: kid).sign(Array("{}".utf8))
    return try JWS.parse(token).header
}
