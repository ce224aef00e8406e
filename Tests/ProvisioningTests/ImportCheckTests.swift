import Contract
import JSON
import Testing

@testable import Accounts
@testable import Provisioning

@Suite("validation of imported accounts")
struct ImportCheckTests {
    private let tenant = TenantRecord(
        TenantCreate.Params(tenantId: "shop", attributes: [TenantAttribute(name: "city", type: .string)]), createdAt: 0, updatedAt: 0)

    private func check(_ json: String, _ how: PasswordHash? = nil) throws -> (draft: ImportDraft?, violations: [String]) {
        var check = ImportCheck(tenant, how, now: 1000)
        let draft = check.draft(try PortableAccount(decoding: JSONText(json).root), line: 1, newId: "made")
        return (draft, check.violations.map { "\($0.pointer) \($0.rule)" })
    }

    @Test("omitted members are generated: ID, times and sign-in method")
    func defaults() throws {
        let draft = try #require(try check(#"{"email": "Ann@Example.com"}"#).draft)
        #expect(draft.account.id == "made" && !draft.hasOwnId)
        #expect(draft.account.username == "Ann@Example.com" && draft.address == "ann@example.com")
        #expect(draft.account.createdAt == 1000 && draft.account.updatedAt == 1000 && draft.account.lastSignInAt == nil)
        #expect(draft.account.method == .code)
        #expect(try check(#"{"accountId": "a"}"#).draft?.account.method == .anonymous)
        #expect(try check(#"{"providers": [{"providerId": "oidc.work", "subject": "1"}]}"#).draft?.account.method == .federated)
    }

    @Test(
        "derived provider entries are ignored, and known providers are accepted",
        arguments: ["google.com", "apple.com", "facebook.com", "microsoft.com", "github.com", "oidc.work", "oidc.a-b_c.9"])
    func providers(_ name: String) throws {
        let json =
            #"{"accountId": "a", "providers": [{"providerId": "phone", "subject": "+49"}, {"providerId": "\#(name)", "subject": "1"}]}"#
        let draft = try #require(try check(json).draft)
        #expect(draft.logins.map(\.record.providerId) == [name] && draft.logins[0].place == 1)
    }

    @Test("unknown providers are rejected", arguments: ["twitter.com", "saml.work", "oidc.", "oidc.-a", "oidc.A", "oidc.a-", "google.org"])
    func unknownProviders(_ name: String) throws {
        #expect(
            try check(#"{"accountId": "a", "providers": [{"providerId": "\#(name)", "subject": "1"}]}"#).violations == [
                "/providers/0/providerId pattern"
            ])
    }

    @Test("a password hash must match its declared algorithm")
    func hashes() throws {
        let md5 = #""passwordHash": "AAAAAAAAAAAAAAAAAAAAAA==", "email": "ann@example.com""#
        #expect(try check("{\(md5)}").violations == ["/hash required"])
        #expect(try check("{\(md5)}", .pbkdf2(.sha1, iterations: 1)).violations == [])
        #expect(try check(#"{\#(md5), "hash": {"algorithm": "pbkdf2Sha1", "rounds": 5}}"#).violations == [])
        #expect(try check(#"{\#(md5), "hash": {"algorithm": "pbkdf2Sha1"}}"#).violations == ["/hash/rounds invalidHashParameters"])
        let firebase = PasswordHash.firebaseScrypt(signerKey: [1, 2], saltSeparator: [], memoryCost: 14, rounds: 8)
        #expect(try check("{\(md5)}", firebase).violations == ["/passwordHash minLength"])
        #expect(
            try check(#"{"email": "ann@example.com", "passwordHash": "AAAA", "salt": "A"}"#, .pbkdf2(.sha1, iterations: 1)).violations == [
                "/salt pattern"
            ])
        #expect(
            try check(#"{"email": "ann@example.com", "passwordHash": "AAAA"}"#, .pbkdf2(.sha1, iterations: 1)).violations == [
                "/passwordHash minLength"
            ])
    }

    @Test("duplicate phone numbers become one factor, and factors require a verified address")
    func factors() throws {
        let sms = #"{"kind": "sms", "phoneNumber": "+4915112345678"}"#
        let draft = try #require(
            try check(
                #"{"email": "ann@example.com", "emailVerified": true, "factors": [\#(sms), \#(sms), {"kind": "totp", "secret": "JBSWY3DPEHPK3PXP"}]}"#
            ).draft)
        #expect(draft.factors.map(\.kind) == [.sms, .totp] && draft.factors[1].secret?.count == 10)
        #expect(try check(#"{"email": "ann@example.com", "factors": [\#(sms)]}"#).violations == ["/factors emailNotVerified"])
        #expect(try check(#"{"accountId": "a", "emailVerified": true, "factors": [\#(sms)]}"#).violations == ["/factors emailNotVerified"])
    }

    @Test("attributes must be defined by the tenant, except displayName and picture")
    func attributes() throws {
        let draft = try #require(
            try check(#"{"accountId": "a", "attributes": {"city": "Bern", "displayName": "Ann", "picture": "p"}}"#).draft)
        #expect(draft.account.attributes == ["city": "Bern", "displayName": "Ann", "picture": "p"])
        #expect(
            try check(#"{"accountId": "a", "attributes": {"city": 7, "a/b~c": "x", "displayName": "a\nb"}}"#).violations == [
                "/attributes/displayName maxLength", "/attributes/city type", "/attributes/a~1b~0c unknown",
            ])
    }
}
