import JSON
import Testing

@testable import IdentityPools

/// Parsing and evaluation of trust policies.
struct TrustPolicyTests {
    static let pool = "local-1:11111111-1111-1111-1111-111111111111"
    static let aud = "cognito-identity.amazonaws.com:aud"
    static let ours: JSONValue = ["Federated": "cognito-identity.amazonaws.com"]
    static let both: JSONValue = ["sts:AssumeRoleWithWebIdentity", "sts:TagSession"]
    static let audience: JSONValue = [
        "StringEquals": ["cognito-identity.amazonaws.com:aud": "local-1:11111111-1111-1111-1111-111111111111"]
    ]

    static func context(pool: String = pool, amr: [String] = ["authenticated", "login.shop"], tags: [(String, String)] = [])
        -> PolicyContext
    {
        var context = PolicyContext()
        context.set(aud, pool)
        context.set("cognito-identity.amazonaws.com:sub", "local-1:22222222-2222-2222-2222-222222222222")
        context.set("cognito-identity.amazonaws.com:amr", many: amr)
        context.set("sts:RoleSessionName", "session")
        context.set("aws:TagKeys", many: tags.map(\.0))
        for (key, value) in tags { context.set("aws:RequestTag/\(key)", value) }
        return context
    }

    static func statement(_ changes: JSONObject = [:]) -> JSONValue {
        var statement: JSONObject = ["Effect": "Allow", "Principal": ours, "Action": both, "Condition": audience]
        for (name, value) in changes.members { statement[name] = value.isNull ? JSONValue?.none : value }
        return .object(statement)
    }

    static func policy(_ statements: JSONValue...) throws -> TrustPolicy {
        try TrustPolicy(parsing: JSONValue.object(["Version": "2012-10-17", "Statement": .array(statements)]).text)
    }

    // MARK: The standard policy

    @Test("the standard policy allows the pool's authenticated identities, with and without tags")
    func standard() {
        let policy = TrustPolicy.standard(forPool: Self.pool)
        #expect(policy.judge(Self.context(), tagged: false) == .allowed)
        #expect(policy.judge(Self.context(tags: [("plan", "gold")]), tagged: true) == .allowed)
        #expect(policy.judge(Self.context(amr: ["unauthenticated"]), tagged: false) != .allowed)
        #expect(policy.judge(Self.context(amr: []), tagged: false) != .allowed)
        #expect(policy.judge(Self.context(pool: "local-1:22222222-2222-2222-2222-222222222222"), tagged: false) != .allowed)
    }

    @Test("a refusal names the action, the statement and the failed condition")
    func refusal() {
        let policy = TrustPolicy.standard(forPool: Self.pool)
        #expect(
            policy.judge(Self.context(amr: ["unauthenticated"]), tagged: false)
                == .refused(
                    action: "sts:AssumeRoleWithWebIdentity",
                    why: "in statement 1 the condition ForAnyValue:StringLike on cognito-identity.amazonaws.com:amr does not hold"))
    }

    // MARK: Actions

    @Test("tags require sts:TagSession")
    func tagSession() throws {
        let policy = try Self.policy(Self.statement(["Action": "sts:AssumeRoleWithWebIdentity"]))
        #expect(policy.judge(Self.context(), tagged: false) == .allowed)
        #expect(
            policy.judge(Self.context(tags: [("a", "b")]), tagged: true)
                == .refused(action: "sts:TagSession", why: "no statement applies"))
    }

    @Test("the two actions can be allowed by separate statements")
    func twoStatements() throws {
        let policy = try Self.policy(
            Self.statement(["Action": "sts:AssumeRoleWithWebIdentity"]),
            Self.statement(["Action": "sts:TagSession", "Condition": ["StringEquals": ["aws:RequestTag/plan": "gold"]]]))
        #expect(policy.judge(Self.context(tags: [("plan", "gold")]), tagged: true) == .allowed)
        #expect(policy.judge(Self.context(tags: [("Plan", "gold")]), tagged: true) == .allowed)
        #expect(policy.judge(Self.context(tags: [("plan", "lead")]), tagged: true) != .allowed)
    }

    @Test(
        "an action matches by name, wildcard and exclusion, case-insensitively",
        arguments: [
            (["Action": "*"], true), (["Action": "sts:*"], true), (["Action": "STS:assumerolewithwebidentity"], true),
            (["Action": "sts:AssumeRole*"], true), (["Action": "sts:AssumeRole"], false),
            (["Action": "sts:AssumeRoleWithWeb?dentity"], true),
            (["Action": ["sts:AssumeRole", "sts:Assume*Identity"]], true), (["Action": "s3:*"], false),
            (["Action": nil, "NotAction": "sts:AssumeRole"], true), (["Action": nil, "NotAction": ["sts:Assume*"]], false),
        ] as [(JSONObject, Bool)])
    func actions(_ change: JSONObject, _ isAllowed: Bool) throws {
        let policy = try Self.policy(Self.statement(change))
        #expect((policy.judge(Self.context(), tagged: false) == .allowed) == isAllowed)
    }

    // MARK: Principals and effects

    @Test(
        "only a statement with the principal of the pools can allow access; other principals are accepted and never match",
        arguments: [
            (["Federated": "cognito-identity.amazonaws.com"], true),
            (["Federated": ["x.example", "cognito-identity.amazonaws.com"]], true),
            (["AWS": "*", "Federated": "cognito-identity.amazonaws.com"], true), (["Federated": "accounts.google.com"], false),
            (["Federated": "*"], false), (["AWS": "*"], false), ("*", false), (["Service": "ec2.amazonaws.com"], false),
            (["AWS": "cognito-identity.amazonaws.com"], false),
        ] as [(JSONValue, Bool)])
    func principals(_ principal: JSONValue, _ isAllowed: Bool) throws {
        let policy = try Self.policy(Self.statement(["Principal": principal]))
        #expect((policy.judge(Self.context(), tagged: false) == .allowed) == isAllowed)
    }

    @Test(
        "a matching Deny statement takes precedence, including one for all principals",
        arguments: [
            (["Principal": ["Federated": "cognito-identity.amazonaws.com"]], true), (["Principal": "*"], true),
            (["Principal": ["AWS": "*"]], true),
            (["Principal": ["Federated": "*"]], true), (["Principal": ["Federated": "accounts.google.com"]], false),
            (["Action": "sts:TagSession"], false), (["Condition": ["StringEquals": ["sts:RoleSessionName": "other"]]], false),
            (["Condition": ["StringEquals": ["sts:RoleSessionName": "session"]]], true),
        ] as [(JSONObject, Bool)])
    func deny(_ change: JSONObject, _ isDenied: Bool) throws {
        var denying: JSONObject = ["Effect": "Deny", "Condition": nil]
        for (name, value) in change.members { denying[name] = value }
        for order in [true, false] {
            let statements = order ? [Self.statement(), Self.statement(denying)] : [Self.statement(denying), Self.statement()]
            let policy = try TrustPolicy(parsing: JSONValue.object(["Version": "2012-10-17", "Statement": .array(statements)]).text)
            let expected: TrustPolicy.Judgement =
                isDenied
                ? .refused(action: "sts:AssumeRoleWithWebIdentity", why: "statement \(order ? 2 : 1) denies it") : .allowed
            #expect(policy.judge(Self.context(), tagged: false) == expected)
        }
    }

    @Test("several operators and several keys must all match")
    func conjunction() throws {
        let condition: JSONValue = [
            "StringEquals": ["cognito-identity.amazonaws.com:aud": .string(Self.pool), "sts:RoleSessionName": "session"],
            "ForAllValues:StringEquals": ["aws:TagKeys": ["plan"]],
        ]
        let policy = try Self.policy(Self.statement(["Condition": condition]))
        #expect(policy.judge(Self.context(), tagged: false) == .allowed)
        #expect(policy.judge(Self.context(tags: [("plan", "x")]), tagged: true) == .allowed)
        #expect(policy.judge(Self.context(tags: [("plan", "x"), ("more", "y")]), tagged: true) != .allowed)
        var other = Self.context()
        other.set("sts:RoleSessionName", "other")
        #expect(policy.judge(other, tagged: false) != .allowed)
    }

    @Test("amr is multivalued: a comparison without a set operator never matches")
    func amrAsScalar() throws {
        let condition: JSONValue = [
            "StringEquals": [
                "cognito-identity.amazonaws.com:aud": .string(Self.pool), "cognito-identity.amazonaws.com:amr": "unauthenticated",
            ]
        ]
        let policy = try Self.policy(Self.statement(["Condition": condition]))
        #expect(policy.judge(Self.context(amr: ["unauthenticated"]), tagged: false) != .allowed)
    }

    // MARK: Parsing

    @Test("a single statement does not need a list, and both policy versions are accepted")
    func shapes() throws {
        for version in ["2012-10-17", "2008-10-17"] {
            let text = JSONValue.object(["Version": .string(version), "Id": "x", "Statement": Self.statement(["Sid": "One"])]).text
            #expect(try TrustPolicy(parsing: text).judge(Self.context(), tagged: true) == .allowed)
        }
        let text = JSONValue.object(["Statement": Self.statement()]).text
        #expect(try TrustPolicy(parsing: text).judge(Self.context(), tagged: true) == .allowed)
    }

    @Test("a statement that allows pools requires a condition, whatever the other statements")
    func needsCondition() throws {
        #expect(throws: PolicyMalformed.self) { try Self.policy(Self.statement(["Condition": nil])) }
        #expect(throws: PolicyMalformed.self) { try Self.policy(Self.statement(["Condition": [:]])) }
        #expect(throws: PolicyMalformed.self) { try Self.policy(Self.statement(), Self.statement(["Condition": nil])) }
        #expect(throws: PolicyMalformed.self) { try Self.policy(Self.statement(["Action": "sts:TagSession", "Condition": nil])) }
        #expect(throws: Never.self) { try Self.policy(Self.statement(), Self.statement(["Action": "sts:TagSession", "Condition": nil])) }
        #expect(throws: Never.self) { try Self.policy(Self.statement(["Principal": ["AWS": "*"], "Condition": nil])) }
        #expect(throws: Never.self) { try Self.policy(Self.statement(["Effect": "Deny", "Condition": nil])) }
    }

    /// Conditions of a statement that allows pool tokens to assume the role, and whether they name the pool.
    static let guards: [(JSONValue, Bool)] = [
        (["StringEquals": ["cognito-identity.amazonaws.com:aud": .string(pool)]], true),
        (["StringEquals": ["Cognito-Identity.AmazonAWS.com:AUD": .string(pool)]], true),
        (["StringEquals": ["cognito-identity.amazonaws.com:aud": [.string(pool), "local-1:22222222-2222-2222-2222-222222222222"]]], true),
        (["StringEqualsIgnoreCase": ["cognito-identity.amazonaws.com:aud": .string(pool)]], true),
        (["ForAnyValue:StringEquals": ["cognito-identity.amazonaws.com:aud": .string(pool)]], true),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": .string(pool)]], true),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "*:11111111-1111-1111-1111-111111111111"]], true),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "local-1:11111111-*"]], true),
        (["ForAnyValue:StringLike": ["cognito-identity.amazonaws.com:amr": "authenticated"]], false),
        (["StringEquals": ["cognito-identity.amazonaws.com:sub": "local-1:22222222-2222-2222-2222-222222222222"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "*"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "**"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "?*"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "*:*"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "local-1:*"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "*-*-4*-*-*"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "*:*0*1*2*3*4*5*6*7*8*9*a*b*"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "????????????????????????????????????????????"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": [.string(pool), "*"]]], false),
        (["StringEquals": ["cognito-identity.amazonaws.com:aud": "${cognito-identity.amazonaws.com:aud}"]], false),
        (["StringLike": ["cognito-identity.amazonaws.com:aud": "${sts:RoleSessionName}"]], false),
        (["StringEqualsIfExists": ["cognito-identity.amazonaws.com:aud": .string(pool)]], false),
        (["ForAllValues:StringEquals": ["cognito-identity.amazonaws.com:aud": .string(pool)]], false),
        (["StringNotEquals": ["cognito-identity.amazonaws.com:aud": .string(pool)]], false),
        (["StringNotLike": ["cognito-identity.amazonaws.com:aud": .string(pool)]], false),
        (["Null": ["cognito-identity.amazonaws.com:aud": "false"]], false),
        (["StringEquals": ["cognito-identity.amazonaws.com:audience": .string(pool)]], false),
    ]

    @Test("a statement that allows pool tokens to assume the role must name the pool", arguments: guards)
    func namesThePool(_ condition: JSONValue, _ isGuarded: Bool) throws {
        let changes: [JSONObject] = [
            ["Condition": condition], ["Condition": condition, "Action": "*"],
            ["Condition": condition, "Action": nil, "NotAction": "s3:*"],
        ]
        for change in changes {
            let text = JSONValue.object(["Version": "2012-10-17", "Statement": [Self.statement(change)]]).text
            if isGuarded {
                _ = try TrustPolicy(parsing: text)
            } else {
                let failure = #expect(throws: PolicyMalformed.self) { try TrustPolicy(parsing: text) }
                #expect(failure?.pointer == "/Statement/0")
                #expect(try TrustPolicy(stored: text).judge(Self.context(), tagged: false) != .allowed)
            }
        }
    }

    @Test("a stored statement that does not name the pool allows nothing and does not affect other statements")
    func storedWithoutThePool() throws {
        let open = Self.statement(["Condition": ["ForAnyValue:StringLike": ["cognito-identity.amazonaws.com:amr": "authenticated"]]])
        let alone = try TrustPolicy(stored: JSONValue.object(["Version": "2012-10-17", "Statement": [open]]).text)
        #expect(alone.hasOpenStatement)
        #expect(
            alone.judge(Self.context(), tagged: false)
                == .refused(action: "sts:AssumeRoleWithWebIdentity", why: "statement 1 does not name the pool"))
        let both = try TrustPolicy(stored: JSONValue.object(["Version": "2012-10-17", "Statement": [open, Self.statement()]]).text)
        #expect(both.judge(Self.context(), tagged: false) == .allowed)
        #expect(both.judge(Self.context(pool: "local-1:22222222-2222-2222-2222-222222222222"), tagged: false) != .allowed)
    }

    @Test(
        "a malformed policy is rejected with its pointer",
        arguments: [
            (["Version": "2020-01-01", "Statement": []], "/Version"), (["Version": 2012, "Statement": []], "/Version"),
            (["Statements": []], "/Statements"), ([:], ""), (["Statement": []], "/Statement"), (["Statement": ["x"]], "/Statement/0"),
            (["Statement": "x"], "/Statement"), ([], ""),
        ] as [(JSONValue, String)])
    func malformed(_ policy: JSONValue, _ pointer: String) {
        let failure = #expect(throws: PolicyMalformed.self) { try TrustPolicy(parsing: policy.text) }
        #expect(failure?.pointer == pointer)
    }

    @Test(
        "a malformed statement is rejected with its pointer",
        arguments: [
            (["Effect": "allow"], "/Statement/0/Effect"), (["Effect": nil], "/Statement/0/Effect"), (["Principal": nil], "/Statement/0"),
            (["Principal": "me"], "/Statement/0/Principal"), (["Principal": [:]], "/Statement/0/Principal"),
            (["Principal": ["Federal": "x"]], "/Statement/0/Principal/Federal"),
            (["Principal": ["Federated": []]], "/Statement/0/Principal/Federated"),
            (["Principal": ["Federated": 1]], "/Statement/0/Principal/Federated"),
            (["NotPrincipal": ["AWS": "*"]], "/Statement/0/NotPrincipal"),
            (["Resource": "*"], "/Statement/0/Resource"), (["Action": nil], "/Statement/0"), (["NotAction": "sts:*"], "/Statement/0"),
            (["Action": []], "/Statement/0/Action"), (["Action": true], "/Statement/0/Action"),
            (["Action": "AssumeRole"], "/Statement/0/Action"),
            (["Action": "sts:"], "/Statement/0/Action"), (["Action": "sts:a b"], "/Statement/0/Action"), (["Sid": 1], "/Statement/0/Sid"),
            (["Condition": "x"], "/Statement/0/Condition"), (["Condition": ["Like": ["k": "v"]]], "/Statement/0/Condition/Like"),
        ] as [(JSONObject, String)])
    func malformedStatement(_ change: JSONObject, _ pointer: String) {
        let failure = #expect(throws: PolicyMalformed.self) { try Self.policy(Self.statement(change)) }
        #expect(failure?.pointer == pointer)
    }

    @Test("duplicate statement IDs are rejected")
    func sids() {
        let failure = #expect(throws: PolicyMalformed.self) { try Self.policy(Self.statement(["Sid": "A"]), Self.statement(["Sid": "A"])) }
        #expect(failure?.pointer == "/Statement/1/Sid")
    }
}
