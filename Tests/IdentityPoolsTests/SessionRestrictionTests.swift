import Contract
import JSON
import Testing

@testable import IdentityPools

/// Restrictions that a caller can attach to a session: a session policy and tags.
struct SessionRestrictionTests {
    private static func policy(_ changes: JSONObject = [:]) -> String {
        var statement: JSONObject = ["Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"]
        for (name, value) in changes.members { statement[name] = value.isNull ? JSONValue?.none : value }
        return JSONValue.object(["Version": "2012-10-17", "Statement": [.object(statement)]]).text
    }

    @Test(
        "a valid session policy is accepted",
        arguments: [
            [:], ["Effect": "Deny"], ["Action": ["s3:*", "*"]], ["Action": nil, "NotAction": "iam:*"],
            ["Resource": nil, "NotResource": ["a", "b"]],
            ["Sid": "x", "Condition": ["IpAddress": ["aws:SourceIp": "10.0.0.0/8"]]],
        ] as [JSONObject])
    func passes(_ changes: JSONObject) {
        #expect(throws: Never.self) { try SessionPolicy.check(Self.policy(changes)) }
    }

    @Test(
        "an invalid session policy is rejected with its pointer",
        arguments: [
            (["Effect": "Maybe"], "/Statement/0/Effect"), (["Principal": "*"], "/Statement/0/Principal"),
            (["Resource": nil], "/Statement/0"),
            (["Action": nil], "/Statement/0"), (["NotAction": "a:b"], "/Statement/0"), (["NotResource": "*"], "/Statement/0"),
            (["Action": "GetObject"], "/Statement/0/Action"), (["Resource": []], "/Statement/0/Resource"),
            (["Condition": "x"], "/Statement/0/Condition"),
        ] as [(JSONObject, String)])
    func refused(_ changes: JSONObject, _ pointer: String) {
        let failure = #expect(throws: PolicyMalformed.self) { try SessionPolicy.check(Self.policy(changes)) }
        #expect(failure?.pointer == pointer)
    }

    @Test("a session policy has 1 to 2,048 characters up to U+00FF")
    func characters() {
        let text = Self.policy()
        let padded = text + String(repeating: " ", count: 2048 - text.count)
        #expect(throws: Never.self) { try SessionPolicy.check(padded) }
        #expect(throws: PolicyMalformed.self) { try SessionPolicy.check(padded + " ") }
        #expect(throws: PolicyMalformed.self) { try SessionPolicy.check("") }
        #expect(throws: PolicyMalformed.self) { try SessionPolicy.check("{}x") }
        #expect(throws: Never.self) { try SessionPolicy.check(Self.policy(["Resource": "\u{FF}"])) }
        let failure = #expect(throws: PolicyMalformed.self) { try SessionPolicy.check(Self.policy(["Resource": "\u{100}"])) }
        #expect(failure?.reason.contains("U+00FF") == true)
    }

    @Test("tags keep case and order; keys that differ only in case or begin with aws: are rejected")
    func tags() throws {
        #expect(try SessionTags.validated(nil).isEmpty)
        let tags = try SessionTags.validated(Members([("Plan", "gold"), ("area", "51")]))
        #expect(tags.map(\.key) == ["Plan", "area"] && tags.map(\.value) == ["gold", "51"])
        for keys in [["Plan", "plan"], ["aws:x"], ["AWS:x"]] {
            let failure = #expect(throws: InvalidPrincipalTags.self) { try SessionTags.validated(Members(keys.map { ($0, "v") })) }
            #expect(failure?.tag == keys.last)
        }
    }

    @Test("policy and tags share a size limit, which can be exceeded")
    func packed() {
        #expect(PackedPolicy.percent(policy: nil, tags: []) == 0)
        #expect(PackedPolicy.percent(policy: String(repeating: "x", count: 1024), tags: []) == 50)
        #expect(PackedPolicy.percent(policy: String(repeating: "x", count: 2048), tags: []) == 100)
        let tag = (key: String(repeating: "k", count: 128), value: String(repeating: "v", count: 256))
        #expect(PackedPolicy.percent(policy: nil, tags: Array(repeating: tag, count: 10)) == 93)
        #expect(PackedPolicy.percent(policy: nil, tags: Array(repeating: tag, count: 11)) > 100)
    }
}
