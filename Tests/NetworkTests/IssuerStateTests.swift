import Crypto
import JSON
import Testing

@testable import Network

/// The rule for what a token that needs a key leads to.
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

    /// What a decision is called here.
    func decision(_ state: IssuerState, _ header: JWSHeader, at seconds: UInt64) -> String {
        switch state.decide(header, at: seconds * Self.second) {
        case .answer(let key): key == nil ? "none" : "key"
        case .answerAndRenew: "key, renew"
        case .fail(let failure): "fail \(failure.check)"
        case .ask: "ask"
        case .join: "join"
        }
    }

    /// A state that got these keys at second 1000.
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

    @Test("an issuer that was never asked is asked, by one caller at a time")
    func first() {
        var state = IssuerState()
        #expect(decision(state, known, at: 1000) == "ask")
        state.begin(at: 1000 * Self.second)
        #expect(decision(state, known, at: 1000) == "join")
    }

    @Test("an issuer that failed is left in peace for five seconds")
    func pause() {
        let state = failed(IssuerState(), at: 1000, .document)
        #expect(decision(state, known, at: 1004) == "fail document")
        #expect(decision(state, known, at: 1005) == "ask")
    }

    @Test("keys serve for their time, then while newer ones are fetched, then only if the issuer cannot be asked")
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

    @Test("while the issuer is down old keys serve for a day more, and it is asked every half minute")
    func down() {
        let state = failed(fetched(), at: 5200)
        #expect(decision(state, known, at: 5229) == "key")
        #expect(decision(state, known, at: 5230) == "ask")
        #expect(decision(state, unknown, at: 5229) == "fail unavailable")
        let last = failed(state, at: 4600 + 86_399)
        #expect(decision(last, known, at: 4600 + 86_399) == "key")
        #expect(decision(last, known, at: 4600 + 86_400) == "fail unavailable")
    }

    @Test("a key that the issuer does not have is asked for once in half a minute")
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

    @Test("a name that nobody has does not hide the next one; of many the issuer is asked for a few only")
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

    @Test("who gives up leaves no trace")
    func cancelled() {
        #expect(decision(failed(IssuerState(), at: 1000, .cancelled), known, at: 1000) == "ask")
        #expect(decision(failed(fetched(), at: 1001, .cancelled), unknown, at: 1001) == "ask")
    }
}

/// The header of a token that names this key.
func header(kid: String) throws -> JWSHeader {
    let token = try JWSSigner(try PrivateKey.generate(.ES256), type: "JWT", keyID: kid).sign(Array("{}".utf8))
    return try JWS.parse(token).header
}
