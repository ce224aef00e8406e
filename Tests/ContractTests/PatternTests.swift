import Testing

@testable import Contract

/// Every pattern of the contract, with accepted and rejected texts.
@Suite struct PatternTests {
    static let cases: [(name: String, rule: StringRule, accepted: [String], refused: [String])] = [
        (
            "PoolId", .poolId, ["local-1:0a-f", "eu_west-1:00000000-0000-0000-0000-000000000000", "A:0", "-:-"],
            ["", ":", "a:", ":0", "a:G", "a:0:0", "a:A", "ü:0", "a:0\n", " a:0", "a:0 ", String(repeating: "a", count: 54) + ":0"]
        ),
        ("IdentityId", .identityId, ["local-1:0a-f"], ["local-1:xyz", "a"]),
        (
            "PoolName", .poolName, ["My shop, No. 1 + 2=3@-", "a\tb\nc", "_"],
            ["", "shop!", "größe", "a/b", String(repeating: "a", count: 129)]
        ),
        (
            "DeveloperProviderName", .developerProviderName, ["login.shop", "a_b-c.D9"],
            ["", "login shop", "a/b", "é", String(repeating: "p", count: 129)]
        ),
        ("LoginProviderName", .loginProviderName, ["accounts.google.com", "ü", " "], ["", String(repeating: "p", count: 129), "a\u{0}"]),
        (
            "TagKey", .tagKey, ["plan", "größe", "a b_.:/=+-@", "日本"],
            ["", "a!", "a*b", "a,b", "a<", "[", "^", "`", "{", "~", "a\u{1}", "a\u{7F}"]
        ),
        ("TagValue", .tagValue, ["", "gold", "größe", "🎉"], ["a;b", "\"", "?", String(repeating: "v", count: 257)]),
        ("RoleName", .roleName, ["reader", "a+b=c,d.e@f-g_h"], ["", "a/b", "a b", "é", String(repeating: "r", count: 65)]),
        ("RoleArn", .roleArn, ["arn:aws:iam::000000000000:role/reader"], ["arn:aws:iam", String(repeating: "a", count: 2049)]),
        (
            "SessionName", .sessionName, ["ab", "laptop@home", String(repeating: "s", count: 64)],
            ["a", "a b", "ab/", String(repeating: "s", count: 65)]
        ),
        ("Kid", .kid, ["Zm9v_-.", "a"], ["", "a b", "a/b", "é"]),
        ("Cursor", .cursor, ["abc", "ü!", "🎉"], ["", "a b", "a\n", "\t", String(repeating: "c", count: 65536)]),
        ("method", .signedRequestMethod, ["GET", "get", "M-SEARCH"], ["", "GET ", "G\nT", "É"]),
        (
            "bodySha256", .signedRequestBodySha256, [String(repeating: "0af9", count: 16)],
            ["", String(repeating: "0AF9", count: 16), String(repeating: "a", count: 63), String(repeating: "a", count: 65)]
        ),
        ("Jwt", .jwt, ["a", String(repeating: "t", count: 20000)], ["", String(repeating: "t", count: 20001)]),
    ]

    @Test("a pattern accepts the valid texts and rejects the others", arguments: cases.indices)
    func pattern(index: Int) {
        let (name, rule, accepted, refused) = Self.cases[index]
        for text in accepted { #expect(rule.breaches(of: text).isEmpty, "\(name) refuses \(text)") }
        for text in refused { #expect(!rule.breaches(of: text).isEmpty, "\(name) takes \(text.prefix(60))") }
    }
}
