import Contract
import JSON
import ServiceContext
import Testing

@testable import IdentityPools

/// The contents for which the trust policy of a role is refused before it is stored.
struct TrustPolicyReviewTests {
    static let hub = "token.actions.githubusercontent.com"
    static let own = "login.example.com"

    static func policy(_ provider: String, _ condition: JSONValue, action: JSONValue = "sts:AssumeRoleWithWebIdentity") -> JSONObject {
        let principal = provider.contains(":") || provider == "*" ? provider : "arn:aws:iam::000000000000:oidc-provider/\(provider)"
        return [
            "Version": "2012-10-17",
            "Statement": [
                ["Effect": "Allow", "Principal": ["Federated": .string(principal)], "Action": action, "Condition": condition]
            ],
        ]
    }

    static func isAccepted(_ policy: JSONObject) -> Bool {
        let review = TrustPolicyReview(Deployment()) { name in
            [hub, own, "accounts.google.com"].contains(name)
                ? TrustedIssuerDeclaration(source: .issuer("https://\(name)"), audiences: ["sts.amazonaws.com"]) : nil
        }
        return (try? review.accepted(policy)) != nil
    }

    static let conditions: [(String, JSONValue, Bool)] = [
        (own, ["StringEquals": ["login.example.com:sub": "a"]], true),
        (own, ["StringEquals": ["LOGIN.example.com:SUB": "a"]], true),
        (own, ["StringEquals": ["login.example.com:aud": "sts.amazonaws.com"]], true),
        (own, ["StringLike": ["login.example.com:sub": "*"]], false),
        (own, ["Null": ["login.example.com:sub": "false"]], false),
        (own, ["StringEquals": ["aws:FederatedProvider": "x"]], false),
        (own, ["StringEquals": ["login.example.com:sub": "${login.example.com:email}"]], false),
        (own, ["StringEquals": ["login.example.com:aud": "other"]], false),
        (own, ["StringLike": ["login.example.com:aud": "sts.*"]], true),
        (own, ["NumericEquals": ["login.example.com:level": "3"]], true),
        (hub, ["StringEquals": ["token.actions.githubusercontent.com:aud": "sts.amazonaws.com"]], false),
        (hub, ["StringEquals": ["token.actions.githubusercontent.com:ref": "refs/heads/main"]], false),
        (hub, ["StringLike": ["token.actions.githubusercontent.com:sub": "repo:octo-org/*"]], true),
        (hub, ["StringLike": ["token.actions.githubusercontent.com:sub": "repo:*/octo-repo:*"]], false),
        (hub, ["StringLike": ["token.actions.githubusercontent.com:sub": "re*"]], false),
        (hub, ["StringLike": ["token.actions.githubusercontent.com:sub": ["repo:octo-org/*", "*"]]], false),
        (hub, ["StringEquals": ["token.actions.githubusercontent.com:repository_owner_id": "65"]], true),
        (hub, ["ForAnyValue:StringEquals": ["token.actions.githubusercontent.com:repository_owner_id": "65"]], true),
    ]

    @Test("a statement must limit the tokens of its issuer", arguments: conditions.indices)
    func limits(index: Int) {
        let (provider, condition, isAccepted) = Self.conditions[index]
        #expect(Self.isAccepted(Self.policy(provider, condition)) == isAccepted)
    }

    @Test("a stored statement without a limit allows nothing")
    func stored() throws {
        let text = JSONValue.object(Self.policy(Self.hub, ["StringEquals": ["sts:RoleSessionName": "job"]])).text
        var context = PolicyContext()
        context.set("sts:RoleSessionName", "job")
        let judgement = try TrustPolicy(stored: text).judge(
            context, ["sts:AssumeRoleWithWebIdentity"], of: .issuer(["arn:aws:iam::000000000000:oidc-provider/\(Self.hub)"]))
        #expect(judgement != .allowed)
    }

    @Test(
        "actions must be usable with a token",
        arguments: [
            ("sts:AssumeRoleWithWebIdentity", true), ("sts:TagSession", true), ("sts:SetSourceIdentity", true), ("sts:*", true),
            ("*", true), ("sts:AssumeRole", false), ("sts:AssumeRoleWithSAML", false),
        ])
    func actions(action: String, isAccepted: Bool) {
        let condition: JSONValue = ["StringEquals": ["login.example.com:sub": "a"]]
        #expect(Self.isAccepted(Self.policy(Self.own, condition, action: .string(action))) == isAccepted)
    }

    @Test("a token of an issuer is judged only by statements for this issuer")
    func otherIssuers() throws {
        let text = JSONValue.object(Self.policy(Self.own, ["StringEquals": ["login.example.com:sub": "a"]])).text
        var context = PolicyContext()
        context.set("login.example.com:sub", "a")
        let policy = try TrustPolicy(stored: text)
        let actions = ["sts:AssumeRoleWithWebIdentity"]
        #expect(policy.judge(context, actions, of: .issuer(["arn:aws:iam::000000000000:oidc-provider/\(Self.own)"])) == .allowed)
        #expect(policy.judge(context, actions, of: .issuer(["arn:aws:iam::000000000000:oidc-provider/\(Self.hub)"])) != .allowed)
        #expect(policy.judge(context, tagged: false) != .allowed)
    }
}
