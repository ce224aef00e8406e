import Contract
import JSON
import Testing

@testable import IdentityPools

@Suite("role selection for a login")
struct RoleResolutionTests {
    private let reader = "arn:aws:iam::000000000000:role/reader"
    private let editor = "arn:aws:iam::000000000000:role/editor"

    private func decide(
        _ mapping: RoleMapping?, _ claims: String, custom: String? = nil, isGuest: Bool = false
    ) throws -> RoleResolution.Choice {
        try RoleResolution.decide(
            .init(
                poolId: "p", isGuest: isGuest, logins: isGuest ? [] : [("login.example.com", try JSONText(claims).root)],
                mappings: mapping.map { ["login.example.com": $0] } ?? [:], custom: custom))
    }

    private func token(_ ambiguous: RoleMapping.AmbiguousRoleResolution = .deny) -> RoleMapping {
        RoleMapping(source: .token, ambiguousRoleResolution: ambiguous)
    }

    private func rules(_ rules: RoleRule..., ambiguous: RoleMapping.AmbiguousRoleResolution = .deny) -> RoleMapping {
        RoleMapping(source: .rules, ambiguousRoleResolution: ambiguous, rules: rules)
    }

    @Test("guests and providers without a mapping get the pool's role")
    func ofPool() throws {
        #expect(try decide(token(), "{}", isGuest: true) == .ofPool)
        #expect(try decide(nil, #"{"cognito:preferred_role":"x"}"#) == .ofPool)
    }

    @Test("by token: the preferred role, otherwise the only role; a list is an array or comma-separated text")
    func byToken() throws {
        #expect(try decide(token(), #"{"cognito:preferred_role":"\#(editor)","cognito:roles":["\#(reader)"]}"#) == .role(arn: editor))
        #expect(try decide(token(), #"{"cognito:roles":["\#(reader)"]}"#) == .role(arn: reader))
        #expect(try decide(token(), #"{"cognito:roles":"\#(reader)"}"#) == .role(arn: reader))
        #expect(throws: AmbiguousRoleDenied(provider: "login.example.com")) {
            try decide(token(), #"{"cognito:roles":"\#(reader),\#(editor)"}"#)
        }
        #expect(throws: AmbiguousRoleDenied.self) { try decide(token(), "{}") }
        #expect(try decide(token(.authenticatedRole), "{}") == .ofPool)
    }

    @Test("by token: an empty preferred role is ignored")
    func emptyPreference() throws {
        #expect(try decide(token(), #"{"cognito:preferred_role":"","cognito:roles":["\#(reader)"]}"#) == .role(arn: reader))
    }

    @Test("a null claim matches no rule, including notEqual")
    func null() throws {
        let mapping = rules(RoleRule(claim: "group", matchType: .notEqual, value: "staff", roleArn: editor), ambiguous: .authenticatedRole)
        #expect(try decide(mapping, #"{"group":null}"#) == .ofPool)
        #expect(try decide(mapping, #"{"group":"other"}"#) == .role(arn: editor))
    }

    @Test("by token: a requested role must be named in the token")
    func customByToken() throws {
        let claims = #"{"cognito:roles":"\#(reader), \#(editor)"}"#
        #expect(try decide(token(), claims, custom: editor) == .role(arn: editor))
        #expect(throws: RoleNotOffered.self) { try decide(token(), claims, custom: "arn:aws:iam::000000000000:role/admin") }
    }

    @Test("by rules: the first matching rule applies, and a requested role must have a matching rule")
    func byRules() throws {
        let mapping = rules(
            RoleRule(claim: "group", matchType: .equals, value: "staff", roleArn: editor),
            RoleRule(claim: "group", matchType: .startsWith, value: "sta", roleArn: reader))
        #expect(try decide(mapping, #"{"group":"staff"}"#) == .role(arn: editor))
        #expect(try decide(mapping, #"{"group":"stash"}"#) == .role(arn: reader))
        #expect(try decide(mapping, #"{"group":"staff"}"#, custom: reader) == .role(arn: reader))
        #expect(throws: RoleNotOffered.self) { try decide(mapping, #"{"group":"stash"}"#, custom: editor) }
        #expect(throws: AmbiguousRoleDenied.self) { try decide(mapping, #"{"group":"guests"}"#) }
    }

    static let comparisons: [(RoleRule.MatchType, String, String, Bool)] = [
        (.equals, "a", #"{"c":"a"}"#, true), (.equals, "a", #"{"c":"A"}"#, false), (.equals, "a", "{}", false),
        (.equals, "a", #"{"c":["b","a"]}"#, true), (.equals, "7", #"{"c":7}"#, true), (.equals, "true", #"{"c":true}"#, true),
        (.contains, "b", #"{"c":"abc"}"#, true), (.contains, "d", #"{"c":"abc"}"#, false), (.contains, "b", "{}", false),
        (.contains, "b", #"{"c":["x","abc"]}"#, true), (.contains, "*", #"{"c":"abc"}"#, false),
        (.startsWith, "ab", #"{"c":"abc"}"#, true), (.startsWith, "bc", #"{"c":"abc"}"#, false), (.startsWith, "a", "{}", false),
        (.notEqual, "a", #"{"c":"b"}"#, true), (.notEqual, "a", #"{"c":"a"}"#, false), (.notEqual, "a", "{}", false),
        (.notEqual, "a", #"{"c":["b","a"]}"#, false), (.notEqual, "a", #"{"c":["b"]}"#, true),
    ]

    @Test("claims are compared according to the match type", arguments: comparisons)
    func comparison(_ row: (type: RoleRule.MatchType, value: String, claims: String, matches: Bool)) throws {
        let rule = RoleRule(claim: "c", matchType: row.type, value: row.value, roleArn: reader)
        #expect(RoleResolution.matches(rule, try JSONText(row.claims).root) == row.matches)
    }
}
