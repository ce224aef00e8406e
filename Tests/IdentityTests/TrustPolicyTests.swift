import JSON
import Testing

@testable import Identity

@Suite("trust policies (cognito.md 6.4)")
struct TrustPolicyTests {
    private static let aud = "cognito-identity.amazonaws.com:aud"
    private static let amr = "cognito-identity.amazonaws.com:amr"

    private var context: PolicyContext {
        var context = PolicyContext()
        context.set(Self.aud, "pool-1")
        context.set("cognito-identity.amazonaws.com:sub", "Alice")
        context.set(Self.amr, many: ["authenticated", "login.shop"])
        context.set("empty:list", many: [])
        return context
    }

    private func policy(_ conditions: String, effect: String = "Allow", action: String = #""sts:AssumeRoleWithWebIdentity""#) throws -> TrustPolicy {
        try TrustPolicy(
            parsing: """
                {"Version": "2012-10-17", "Statement": [{"Effect": "\(effect)", "Principal": {"Federated": "cognito-identity.amazonaws.com"},
                "Action": \(action), "Condition": \(conditions)}]}
                """)
    }

    @Test("each operator, with the key there, missing, and of many values", arguments: [
        (#"{"StringEquals": {"K": "pool-1"}}"#, true), (#"{"StringEquals": {"K": "POOL-1"}}"#, false), (#"{"StringEquals": {"K": ["x", "pool-1"]}}"#, true),
        (#"{"StringEquals": {"K": "pool-*"}}"#, false), (#"{"StringEquals": {"none:x": "a"}}"#, false), (#"{"StringEqualsIfExists": {"none:x": "a"}}"#, true),
        (#"{"StringNotEquals": {"K": "other"}}"#, true), (#"{"StringNotEquals": {"K": ["other", "pool-1"]}}"#, false), (#"{"StringNotEquals": {"none:x": "a"}}"#, true),
        (#"{"StringEqualsIgnoreCase": {"K": "POOL-1"}}"#, true), (#"{"StringNotEqualsIgnoreCase": {"K": "POOL-1"}}"#, false),
        (#"{"StringLike": {"K": "pool-*"}}"#, true), (#"{"StringLike": {"K": "pool-?"}}"#, true), (#"{"StringLike": {"K": "POOL*"}}"#, false), (#"{"StringLike": {"K": "pool-??"}}"#, false),
        (#"{"StringNotLike": {"K": "pool-*"}}"#, false), (#"{"StringNotLike": {"K": "x*"}}"#, true),
        (#"{"Null": {"K": "false"}}"#, true), (#"{"Null": {"K": "true"}}"#, false), (#"{"Null": {"none:x": "true"}}"#, true), (#"{"Null": {"none:x": false}}"#, false),
        (#"{"ForAnyValue:StringLike": {"A": "authent*"}}"#, true), (#"{"ForAnyValue:StringEquals": {"A": "unauthenticated"}}"#, false),
        (#"{"ForAnyValue:StringEquals": {"none:x": "a"}}"#, false), (#"{"ForAnyValue:StringEquals": {"empty:list": "a"}}"#, false),
        (#"{"ForAllValues:StringEquals": {"A": ["authenticated", "login.shop", "x"]}}"#, true), (#"{"ForAllValues:StringEquals": {"A": "authenticated"}}"#, false),
        (#"{"ForAllValues:StringEquals": {"none:x": "a"}}"#, true), (#"{"ForAllValues:StringEquals": {"empty:list": "a"}}"#, true),
        (#"{"StringEquals": {"A": "authenticated"}}"#, false), (#"{"StringLike": {"A": "*"}}"#, false),
        (#"{"StringEquals": {"COGNITO-IDENTITY.amazonaws.com:AUD": "pool-1"}}"#, true),
        (#"{"StringEquals": {"K": "pool-1", "none:x": "a"}}"#, false), (#"{"StringEquals": {"K": "pool-1"}, "StringLike": {"K": "x"}}"#, false),
        (#"{"StringEquals": {"cognito-identity.amazonaws.com:sub": "${cognito-identity.amazonaws.com:sub}"}}"#, true),
        (#"{"StringEquals": {"K": "${none:x}"}}"#, false), (#"{"StringEquals": {"K": "${none:x, 'pool-1'}"}}"#, true), (#"{"StringEquals": {"K": "${A}"}}"#, false),
        (#"{"StringLike": {"K": "pool${*}1"}}"#, false),
    ])
    func operators(condition: String, holds: Bool) throws {
        let written = condition.replacing("\"K\"", with: "\"\(Self.aud)\"").replacing("\"A\"", with: "\"\(Self.amr)\"").replacing("${A}", with: "${\(Self.amr)}")
        let judgement = try policy(written).judge(context, tagged: false)
        #expect((judgement == .allowed) == holds, "\(judgement)")
    }

    @Test("a tag asks for sts:TagSession as well")
    func tags() throws {
        let condition = "{\"StringEquals\": {\"\(Self.aud)\": \"pool-1\"}}"
        #expect(try policy(condition).judge(context, tagged: false) == .allowed)
        #expect(try policy(condition).judge(context, tagged: true) == .refused(action: "sts:TagSession", why: "no statement is about it"))
        #expect(try policy(condition, action: #""sts:*""#).judge(context, tagged: true) == .allowed)
        #expect(try policy(condition, action: #"["STS:assumerolewithwebidentity", "sts:Tag?ession"]"#).judge(context, tagged: true) == .allowed)
    }

    @Test("a denial wins, and who is not named is not let in")
    func denial() throws {
        let text = """
            {"Statement": [{"Effect": "Allow", "Principal": {"Federated": ["x", "cognito-identity.amazonaws.com"]}, "Action": "*", "Condition": {"StringLike": {"\(Self.aud)": "*"}}},
            {"Effect": "Deny", "Principal": "*", "Action": "sts:AssumeRoleWithWebIdentity", "Condition": {"StringEquals": {"\(Self.aud)": "pool-1"}}}]}
            """
        #expect(try TrustPolicy(parsing: text).judge(context, tagged: false) == .refused(action: "sts:AssumeRoleWithWebIdentity", why: "statement 2 denies it"))
        let everyone = try TrustPolicy(parsing: #"{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "*"}}"#)
        #expect(everyone.judge(context, tagged: false) != .allowed)
    }

    @Test("the standard policy admits this pool's authenticated identities alone")
    func standard() {
        #expect(TrustPolicy.standard(forPool: "pool-1").judge(context, tagged: true) == .allowed)
        #expect(TrustPolicy.standard(forPool: "pool-2").judge(context, tagged: false) != .allowed)
        var guest = context
        guest.set(Self.amr, many: ["unauthenticated"])
        #expect(TrustPolicy.standard(forPool: "pool-1").judge(guest, tagged: false) != .allowed)
    }

    @Test("what is not in the language is refused with its place", arguments: [
        ("[]", ""), ("{}", ""), (#"{"Version": "2020-01-01", "Statement": []}"#, "/Version"), (#"{"Statement": []}"#, "/Statement"),
        (#"{"Statement": [{"Effect": "allow"}]}"#, "/Statement/0/Effect"), (#"{"Statement": {"Effect": "Allow", "Resource": "*"}}"#, "/Statement/Resource"),
        (#"{"Statement": {"Effect": "Allow", "Principal": {"federated": "x"}, "Action": "a"}}"#, "/Statement/Principal/federated"),
        (#"{"Statement": {"Effect": "Allow", "Principal": {"AWS": "x"}}}"#, "/Statement"),
        (#"{"Statement": {"Effect": "Allow", "Principal": {"AWS": "x"}, "Action": "a", "Condition": {"StringEqual": {"k": "v"}}}}"#, "/Statement/Condition/StringEqual"),
        (#"{"Statement": {"Effect": "Allow", "Principal": {"AWS": "x"}, "Action": "a", "Condition": {"Null": {"a/b": "maybe"}}}}"#, "/Statement/Condition/Null"),
        (#"{"Statement": {"Effect": "Allow", "Principal": {"Federated": "cognito-identity.amazonaws.com"}, "Action": "sts:*"}}"#, "/Statement"),
        (#"{"Extra": 1, "Statement": []}"#, "/Extra"),
    ])
    func malformed(text: String, pointer: String) {
        #expect { try TrustPolicy(parsing: text) } throws: { ($0 as? PolicyMalformed)?.pointer == pointer }
    }

    @Test("a pattern of many stars takes no exponential time")
    func hostilePattern() {
        let pattern = PolicyText(String(repeating: "*a", count: 200) + "b", wildcards: true, variables: false)
        #expect(!pattern.matches(String(repeating: "a", count: 2000), in: PolicyContext()))
    }
}
