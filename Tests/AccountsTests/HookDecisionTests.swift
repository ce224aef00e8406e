import Contract
import JSON
import Testing

@testable import Accounts

@Suite("the answers of hooks")
struct HookDecisionTests {
    @Test("null and an empty object change nothing")
    func nothing() throws {
        for hook in HookName.allCases {
            #expect(try HookDecision(.null, of: hook) == HookDecision())
            #expect(try HookDecision([:], of: hook) == HookDecision())
        }
    }

    @Test("a refusal has its reason, whatever else the answer contains")
    func refusal() {
        for answer: JSONValue in [["refuse": "no"], ["refuse": "no", "disabled": true]] {
            let error = #expect(throws: RefusedByHook.self) { try HookDecision(answer, of: .beforeSignIn) }
            #expect(error?.reason == "no")
            #expect(error?.hook == .beforeSignIn)
        }
    }

    @Test("the changes of an answer are read")
    func changes() throws {
        let decision = try HookDecision(
            ["displayName": "Alice", "claims": ["role": "staff"], "sessionClaims": ["desk": 7], "disabled": false], of: .beforeSignIn)
        #expect(decision.displayName == "Alice")
        #expect(decision.claims == ["role": "staff"])
        #expect(decision.sessionClaims == ["desk": 7])
        #expect(decision.isDisabled == false)
        #expect(try HookDecision(["displayName": .null], of: .beforeCreate).displayName == .null)
    }

    @Test(
        "every other answer fails closed",
        arguments: [
            (HookName.beforeSignIn, JSONValue.bool(true)), (.beforeSignIn, []), (.beforeSignIn, "ok"), (.beforeSignIn, ["allow": true]),
            (.beforeSignIn, ["refuse": ""]), (.beforeSignIn, ["refuse": .null]), (.beforeSignIn, ["refuse": 1]),
            (.beforeSignIn, ["displayName": 1]), (.beforeSignIn, ["claims": "x"]), (.beforeSignIn, ["claims": ["sub": "x"]]),
            (.beforeSignIn, ["sessionClaims": []]), (.beforeSignIn, ["disabled": 1]), (.beforeCreate, ["sessionClaims": [:]]),
            (.beforeSendMessage, ["displayName": "x"]), (.beforeSendMessage, ["disabled": true]),
            (.beforeSignIn, ["refuse": .string(String(repeating: "x", count: 1_001))]),
        ] as [(HookName, JSONValue)])
    func invalid(_ hook: HookName, _ answer: JSONValue) {
        let error = #expect(throws: HookFailed.self) { try HookDecision(answer, of: hook) }
        #expect(error?.check == .invalidAnswer)
        #expect(error?.hook == hook)
    }
}
