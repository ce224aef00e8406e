import JSON
import Testing

@testable import Contract

/// The messages for parameters that are not valid.
@Suite struct ViolationMessageTests {
    private func messages<M: ContractMethod>(_ method: M.Type, _ params: String) -> [String] {
        do {
            _ = try M.Params(decoding: JSONText(params).root)
            return []
        } catch let error as InvalidParams {
            return error.violations.map(\.message)
        } catch { return ["\(error)"] }
    }

    @Test("a mistyped parameter name or value yields the nearest allowed ones")
    func suggestions() {
        #expect(
            messages(PoolCreate.self, #"{"name": "a", "developerProvder": "x"}"#) == [
                "developerProvder is unknown. Did you mean developerProvider?"
            ])
        #expect(
            messages(PoolCreate.self, #"{"name": "a", "signingAlgorithm": "RS265"}"#)
                == [#"signingAlgorithm must be one of ES256, RS256, RS512, EdDSA, ES384; it is "RS265". Did you mean RS256 or ES256?"#])
    }

    @Test("a message contains the rejected value")
    func values() {
        #expect(
            messages(PoolGet.self, #"{"poolId": "näh"}"#)
                == [
                    #"poolId must be a region, a colon and a UUID in lowercase, such as `local-1:00000000-0000-0000-0000-000000000000`; it is "näh"."#
                ])
        #expect(messages(PoolList.self, #"{"limit": 61}"#) == ["limit must be at most 60; it is 61."])
        #expect(messages(PoolList.self, #"{"limit": null}"#) == ["limit must be an integer; it is null: omit it instead."])
        #expect(messages(PoolGet.self, #"{"poolId": null}"#) == ["poolId must be a string; it is null."])
    }

    @Test("a message never contains a secret value")
    func secretsAreMasked() {
        let token = String(repeating: "hunter2", count: 3000)
        for params in [
            #"{"token": "\#(token)", "audience": "a"}"#, #"{"token": "hunter2\u0000", "audience": "a"}"#,
        ] {
            let found = messages(TokenVerify.self, params)
            #expect(!found.isEmpty)
            #expect(!found.contains { $0.contains("hunter2") })
        }
        let login = messages(TokenMintForDeveloper.self, #"{"poolId": "a:0", "logins": {"p": "hunter2\u0000"}}"#)
        #expect(login == ["p must not contain the character U+0000."])
    }

    @Test("a long value is shortened in the message")
    func long() {
        let found = messages(PoolGet.self, #"{"poolId": "\#(String(repeating: "!", count: 100_000))"}"#)
        #expect(found.count == 2 && found.allSatisfy { $0.utf8.count < 200 })
    }

    @Test("the message of the error contains the first three violations and the number of the others")
    func summary() {
        let error = InvalidParams(
            violations: (1...5).map { Violation(pointer: "/p\($0)", rule: "type", message: "p\($0) must be a string.") })
        #expect(
            error.message
                == "The parameters are not valid: p1 must be a string. p2 must be a string. p3 must be a string. And 2 more: see data.violations."
        )
    }
}
