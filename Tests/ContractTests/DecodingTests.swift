import JSON
import Testing

@testable import Contract

/// Decoding of request parameters: every violation is reported with its JSON pointer.
@Suite struct DecodingTests {
    /// The violations of `params`, each as `rule pointer`.
    private static func found<M: ContractMethod>(_ method: M.Type, _ params: String) -> [String] {
        violations(method, params).map { "\($0.rule) \($0.pointer)" }
    }

    private static func violations<M: ContractMethod>(_ method: M.Type, _ params: String) -> [Violation] {
        do {
            _ = try M.Params(decoding: JSONText(params).root)
            return []
        } catch let error as InvalidParams {
            return error.violations
        } catch {
            Issue.record(error)
            return []
        }
    }

    @Test("valid parameters are decoded into their values")
    func everythingRight() throws {
        let text = #"""
            {"poolId": "eu-1:0a", "logins": {"login.shop": "al\u00efce"}, "identityId": "eu-1:0b", "durationSeconds": 6e1,
             "principalTags": {"plan": "gold", "größe": "é"}}
            """#
        let params = try TokenMintForDeveloper.Params(decoding: JSONText(text).root)
        #expect((params.poolId, params.identityId, params.durationSeconds) == ("eu-1:0a", "eu-1:0b", 60))
        #expect(params.logins == ["login.shop": "alïce"])
        #expect(params.principalTags == ["plan": "gold", "größe": "é"])
    }

    @Test("omitted members get their default values")
    func defaults() throws {
        let minted = try TokenMintForDeveloper.Params(decoding: JSONText(#"{"poolId": "a:0", "logins": {"p": "u"}}"#).root)
        #expect(minted.durationSeconds == 900 && minted.identityId == nil && minted.principalTags == nil)
        let pool = try PoolCreate.Params(decoding: JSONText(#"{"name": "shop"}"#).root)
        #expect(!pool.allowUnauthenticated && !pool.allowClassicFlow && pool.signingAlgorithm == .ES256 && pool.poolId == nil)
        #expect(try PoolList.Params(decoding: nil).limit == 60)
    }

    static let mint: [(params: String, violations: [String])] = [
        ("{}", ["required /poolId", "required /logins"]),
        ("[]", ["type "]),
        (#"{"poolId": 1, "logins": []}"#, ["type /poolId", "type /logins"]),
        (#"{"poolId": null, "logins": {"p": "u"}}"#, ["type /poolId"]),
        (#"{"poolId": "", "logins": {"p": "u"}}"#, ["minLength /poolId", "pattern /poolId"]),
        (#"{"poolId": "nowhere", "logins": {}}"#, ["pattern /poolId", "minProperties /logins"]),
        (#"{"poolId": "a:0", "logins": {"": ""}}"#, ["propertyNames /logins/", "minLength /logins/"]),
        (#"{"poolId": "a:0", "logins": {"a/b~c": 1}}"#, ["type /logins/a~1b~0c"]),
        (#"{"poolId": "a:0", "logins": {"p": "a\u0000b"}}"#, ["noNulCharacter /logins/p"]),
        (#"{"poolId": "a:0", "logins": {"p": "u"}, "durationSeconds": 0}"#, ["minimum /durationSeconds"]),
        (#"{"poolId": "a:0", "logins": {"p": "u"}, "durationSeconds": 86401}"#, ["maximum /durationSeconds"]),
        (#"{"poolId": "a:0", "logins": {"p": "u"}, "durationSeconds": 1.5}"#, ["type /durationSeconds"]),
        (#"{"poolId": "a:0", "logins": {"p": "u"}, "durationSeconds": 9223372036854775808}"#, ["maximum /durationSeconds"]),
        (#"{"poolId": "a:0", "logins": {"p": "u"}, "durationSeconds": -1e400}"#, ["minimum /durationSeconds"]),
        (
            #"{"poolId": "a:0", "logins": {"p": "u"}, "principalTags": {"k": "", "<": "v"}}"#,
            ["minLength /principalTags/k", "pattern /principalTags/k", "propertyNames /principalTags/<"]
        ),
        (#"{"poolId": "a:0", "login": {"p": "u"}}"#, ["unknownParameter /login", "required /logins"]),
        (#"{"x": 1, "logins": 2, "y": 3, "poolId": 4}"#, ["unknownParameter /x", "type /logins", "unknownParameter /y", "type /poolId"]),
        (
            #"{"poolId": "!", "logins": 1, "durationSeconds": "x", "identityId": 2, "more": 3}"#,
            ["pattern /poolId", "type /logins", "type /durationSeconds", "type /identityId", "unknownParameter /more"]
        ),
    ]

    @Test("every violation of token.mintForDeveloper is reported with its pointer", arguments: mint)
    func mintForDeveloper(params: String, violations: [String]) {
        #expect(Self.found(TokenMintForDeveloper.self, params) == violations)
    }

    @Test("collections with too many members are violations")
    func limits() {
        let logins = (0..<11).map { #""p\#($0)": "u""# }.joined(separator: ",")
        #expect(Self.found(TokenMintForDeveloper.self, #"{"poolId": "a:0", "logins": {\#(logins)}}"#) == ["maxProperties /logins"])
        let heads = [String](repeating: #"{"chain": "c", "records": 1, "head": "h"}"#, count: 1001).joined(separator: ",")
        #expect(Self.found(AuditVerify.self, #"{"heads": [\#(heads)]}"#) == ["maxItems /heads"])
        #expect(
            Self.found(
                AuditVerify.self, #"{"heads": [{"chain": "c", "records": -1}, 7, {"chain": "", "records": 0, "head": "h", "x": 1}]}"#)
                == [
                    "minimum /heads/0/records", "required /heads/0/head", "type /heads/1", "minLength /heads/2/chain",
                    "unknownParameter /heads/2/x",
                ])
    }

    @Test("lengths are counted in characters, not bytes")
    func lengths() {
        let name = String(repeating: "ü", count: 128)
        #expect(Self.found(TokenMintForDeveloper.self, #"{"poolId": "a:0", "logins": {"\#(name)": "u"}}"#) == [])
        #expect(
            Self.found(TokenMintForDeveloper.self, #"{"poolId": "a:0", "logins": {"\#(name)ü": "u"}}"#) == [
                "propertyNames /logins/\(name)ü"
            ])
    }

    static let choices: [(params: String, violations: [String])] = [
        ("{}", ["exactlyOne "]),
        (#"{"identityId": "a:0", "poolId": "a:1"}"#, ["exactlyOne "]),
        (#"{"identityId": "a:0", "poolId": 1}"#, ["type /poolId", "exactlyOne "]),
        (#"{"identityId": "a:0"}"#, []),
    ]

    @Test("exactly one of several mutually exclusive parameters is required", arguments: choices)
    func exactlyOne(params: String, violations: [String]) {
        #expect(Self.found(CredentialsRevoke.self, params) == violations)
    }

    @Test("mutually exclusive parameters are decoded into one enum value")
    func choiceValues() throws {
        let revoked = try CredentialsRevoke.Params(decoding: JSONText(#"{"poolId": "a:0", "issuedBefore": 5}"#).root)
        guard case .poolId("a:0") = revoked.target else {
            Issue.record("\(revoked.target)")
            return
        }
        #expect(revoked.issuedBefore == 5)
        #expect(try KeyList.Params(decoding: nil).owner == nil)
        guard case .issuer("i") = try KeyList.Params(decoding: JSONText(#"{"issuer": "i"}"#).root).owner else {
            Issue.record("another owner")
            return
        }
        #expect(Self.found(KeyList.self, #"{"issuer": "i", "poolId": "a:0"}"#) == ["atMostOne "])
        #expect(Self.found(TokenVerify.self, #"{"token": "t"}"#) == ["atLeastOne "])
        #expect(Self.found(TokenVerify.self, #"{"token": "t", "issuer": "i", "audience": "a"}"#) == [])
    }

    @Test("U+0000 is rejected in every string, including member names")
    func nulEverywhere() {
        #expect(
            Self.found(RolePut.self, #"{"name": "r", "trustPolicy": {"a": ["x", "\u0000"], "b\u0000": {"c": "\u0000"}}}"#)
                == ["noNulCharacter /trustPolicy/a/1", "noNulCharacter /trustPolicy/b\u{0}", "noNulCharacter /trustPolicy/b\u{0}/c"])
    }

    @Test("an unknown parameter of a method without parameters is reported as such")
    func noParameters() {
        #expect(Self.found(SystemPing.self, "{}") == [])
        let violation = Self.violations(SystemPing.self, #"{"noSuchParameter": 1}"#).first
        #expect(violation?.message == "noSuchParameter is unknown. The method has no parameters.")
    }

    @Test("the list of violations has at most 1,000 entries, the last of which reports the truncation")
    func bounded() {
        let params = "{" + (0..<5000).map { #""p\#($0)": 1"# }.joined(separator: ",") + "}"
        let all = Self.violations(SystemPing.self, params)
        #expect(all.count == 1000 && all.last?.rule == "tooManyViolations")
    }
}
