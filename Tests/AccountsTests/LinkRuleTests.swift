import Contract
import Testing

@testable import Accounts

/// The rows are those of Sources/Accounts/README.md, "Account linking".
@Suite("decision tables of linking and unlinking")
struct LinkRuleTests {
    private typealias Facts = LinkRule.Facts

    private func provider(_ facts: Facts) -> Result<LinkRule.Address, LinkRule.Refusal.Failure> { LinkRule.provider(facts) }

    @Test("row 1: a second login of one provider is rejected")
    func row1() {
        #expect(provider(Facts(accountId: "a", providerId: "oidc.a", hasProvider: true)) == .failure(.init(.providerAlreadyLinked)))
    }

    @Test("row 2: a login that is already linked is rejected, even if it is linked to the same account")
    func row2() {
        for owner in ["a", "b"] {
            for hasProvider in [true, false] {
                let facts = Facts(accountId: "a", providerId: "oidc.a", owner: owner, hasProvider: hasProvider)
                #expect(provider(facts) == .failure(.init(.credentialAlreadyInUse)))
            }
        }
    }

    @Test("row 3: the address of another account is rejected, from trusted and untrusted providers")
    func row3() {
        for trusted in [true, false] {
            let facts = Facts(accountId: "a", providerId: "oidc.a", address: "x@y.de", addressOwner: "b", isTrusted: trusted)
            #expect(provider(facts) == .failure(.init(.emailAlreadyInUse)))
        }
    }

    @Test("row 4: an account without an address gets the provider's address")
    func row4() {
        for trusted in [true, false] {
            let facts = Facts(accountId: "a", providerId: "oidc.a", address: "x@y.de", isTrusted: trusted)
            #expect(provider(facts) == .success(.isTaken("x@y.de", verified: trusted)))
        }
    }

    @Test("row 5: a trusted provider with the account's address verifies it")
    func row5() {
        let facts = Facts(
            accountId: "a", providerId: "oidc.a", ownAddress: "x@y.de", address: "x@y.de", addressOwner: "a", isTrusted: true)
        #expect(provider(facts) == .success(.isVerified))
        var untrusted = facts
        untrusted.isTrusted = false
        #expect(provider(untrusted) == .success(.stays))
    }

    @Test("row 6: a different, unused address changes nothing")
    func row6() {
        let facts = Facts(accountId: "a", providerId: "oidc.a", ownAddress: "x@y.de", address: "z@y.de", isTrusted: true)
        #expect(provider(facts) == .success(.stays))
    }

    @Test("row 7: if addresses are not unique, the address is ignored")
    func row7() {
        let facts = Facts(accountId: "a", providerId: "oidc.a", oneAccountPerAddress: false, address: "x@y.de", addressOwner: "b")
        #expect(provider(facts) == .success(.stays))
    }

    @Test("rows 8 and 9: linking a password fails for another account's address, and if the account has a password")
    func passwords() {
        #expect(
            LinkRule.password(Facts(accountId: "a", providerId: "password", address: "x@y.de", addressOwner: "b"))
                == .failure(.init(.emailAlreadyInUse)))
        #expect(
            LinkRule.password(Facts(accountId: "a", providerId: "password", hasProvider: true, address: "x@y.de"))
                == .failure(.init(.providerAlreadyLinked)))
        #expect(
            LinkRule.password(Facts(accountId: "a", providerId: "password", ownAddress: "x@y.de", address: "x@y.de", addressOwner: "a"))
                == .success(.stays))
        #expect(
            LinkRule.password(Facts(accountId: "a", providerId: "password", address: "x@y.de"))
                == .success(.isTaken("x@y.de", verified: false)))
    }

    @Test("a password for an address other than the verified one is rejected, and an unverified one is replaced")
    func otherAddress() {
        var facts = Facts(accountId: "a", providerId: "password", ownAddress: "x@y.de", address: "z@y.de")
        #expect(LinkRule.password(facts) == .success(.isTaken("z@y.de", verified: false)))
        facts.isOwnAddressVerified = true
        #expect(LinkRule.password(facts) == .failure(.init(.addressDiffers)))
        facts.address = "x@y.de"
        #expect(LinkRule.password(facts) == .success(.stays))
    }

    private func unlink(
        _ id: String, own: String? = nil, _ providers: [String] = [], usable: [String]? = nil, custom: Bool = false, recent: Bool = true,
        force: Bool = false
    ) throws(UnlinkRule.Refusal) {
        try UnlinkRule.check(
            id, .init(own: own, providers: providers, usable: usable ?? providers, isNamedByBackend: custom, isRecent: recent),
            force: force)
    }

    @Test("a method that is not linked cannot be unlinked")
    func notLinked() {
        #expect(throws: UnlinkRule.Refusal.notLinked) { try unlink("google.com", own: "password", ["oidc.a"]) }
        #expect(throws: UnlinkRule.Refusal.notLinked) { try unlink("password", ["oidc.a"], force: true) }
        #expect(throws: UnlinkRule.Refusal.notLinked) { try unlink("password", own: "code", force: true) }
    }

    @Test("unlinking the last sign-in method requires force, unless the backend signs the account in")
    func last() throws {
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("oidc.a", ["oidc.a"]) }
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("password", own: "password") }
        try unlink("oidc.a", ["oidc.a"], force: true)
        try unlink("oidc.a", ["oidc.a"], custom: true)
        try unlink("oidc.a", ["oidc.a", "oidc.b"])
        try unlink("oidc.a", own: "code", ["oidc.a"])
    }

    @Test("an unusable provider does not count as a sign-in method, and can be unlinked")
    func unusable() throws {
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("password", own: "password", ["oidc.a"], usable: []) }
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("oidc.a", ["oidc.a", "oidc.b"], usable: ["oidc.a"]) }
        try unlink("oidc.a", own: "password", ["oidc.a"], usable: [])
    }

    @Test("unlinking the password or the passkeys requires a recent sign-in, and unlinking a provider does not")
    func recent() throws {
        #expect(throws: UnlinkRule.Refusal.tooOld) { try unlink("password", own: "password", ["oidc.a"], recent: false) }
        try unlink("oidc.a", own: "password", ["oidc.a"], recent: false)
        #expect(throws: UnlinkRule.Refusal.tooOld) { try unlink("passkey", own: "password", ["passkey"], recent: false) }
        try unlink("password", own: "password", ["oidc.a"])
    }

    @Test("a sign-in is recent for at most five minutes")
    func boundary() {
        #expect(RecentSignIn.isRecent(700, at: 1000))
        #expect(!RecentSignIn.isRecent(699, at: 1000))
    }
}
