import Contract
import Testing

@testable import Accounts

@Suite("linking and unlinking, row by row (firebase.md 5.2, 5.4)")
struct LinkRuleTests {
    private typealias Facts = LinkRule.Facts

    private func provider(_ facts: Facts) -> Result<LinkRule.Address, LinkRule.Refusal.Failure> { LinkRule.provider(facts) }

    @Test("row 1: a second login of one provider is refused")
    func row1() {
        #expect(provider(Facts(accountId: "a", providerId: "oidc.a", hasProvider: true)) == .failure(.init(.providerAlreadyLinked)))
    }

    @Test("row 2: a login that leads to an account is refused, also if that is one's own")
    func row2() {
        for owner in ["a", "b"] {
            for hasProvider in [true, false] {
                let facts = Facts(accountId: "a", providerId: "oidc.a", owner: owner, hasProvider: hasProvider)
                #expect(provider(facts) == .failure(.init(.credentialAlreadyInUse)))
            }
        }
    }

    @Test("row 3: the address of another account is refused, whoever says it")
    func row3() {
        for trusted in [true, false] {
            let facts = Facts(accountId: "a", providerId: "oidc.a", address: "x@y.de", addressOwner: "b", isTrusted: trusted)
            #expect(provider(facts) == .failure(.init(.emailAlreadyInUse)))
        }
    }

    @Test("row 4: an account without an address takes the provider's")
    func row4() {
        for trusted in [true, false] {
            let facts = Facts(accountId: "a", providerId: "oidc.a", address: "x@y.de", isTrusted: trusted)
            #expect(provider(facts) == .success(.isTaken("x@y.de", verified: trusted)))
        }
    }

    @Test("row 5: a trusted provider that says the account's own address verifies it")
    func row5() {
        let facts = Facts(
            accountId: "a", providerId: "oidc.a", ownAddress: "x@y.de", address: "x@y.de", addressOwner: "a", isTrusted: true)
        #expect(provider(facts) == .success(.isVerified))
        var untrusted = facts
        untrusted.isTrusted = false
        #expect(provider(untrusted) == .success(.stays))
    }

    @Test("row 6: another address that is free changes nothing")
    func row6() {
        let facts = Facts(accountId: "a", providerId: "oidc.a", ownAddress: "x@y.de", address: "z@y.de", isTrusted: true)
        #expect(provider(facts) == .success(.stays))
    }

    @Test("row 7: where an address can have several accounts none is looked at, and none is taken")
    func row7() {
        let facts = Facts(accountId: "a", providerId: "oidc.a", oneAccountPerAddress: false, address: "x@y.de", addressOwner: "b")
        #expect(provider(facts) == .success(.stays))
    }

    @Test("rows 8 and 9: a password for another account's address, and a second password, are refused; one's own address is not")
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

    @Test("a password for another address than the verified one is refused; one that nobody has verified gives way")
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
            id, own: own, providers: providers, usable: usable ?? providers, isNamedByBackend: custom, isRecent: recent, force: force)
    }

    @Test("what is not there cannot be unlinked")
    func notLinked() {
        #expect(throws: UnlinkRule.Refusal.notLinked) { try unlink("google.com", own: "password", ["oidc.a"]) }
        #expect(throws: UnlinkRule.Refusal.notLinked) { try unlink("password", ["oidc.a"], force: true) }
        #expect(throws: UnlinkRule.Refusal.notLinked) { try unlink("password", own: "code", force: true) }
    }

    @Test("the last way in goes with force only; where a backend names people there is another")
    func last() throws {
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("oidc.a", ["oidc.a"]) }
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("password", own: "password") }
        try unlink("oidc.a", ["oidc.a"], force: true)
        try unlink("oidc.a", ["oidc.a"], custom: true)
        try unlink("oidc.a", ["oidc.a", "oidc.b"])
        try unlink("oidc.a", own: "code", ["oidc.a"])
    }

    @Test("a provider that nobody can sign in with is no way in, and can itself be taken away")
    func unusable() throws {
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("password", own: "password", ["oidc.a"], usable: []) }
        #expect(throws: UnlinkRule.Refusal.last) { try unlink("oidc.a", ["oidc.a", "oidc.b"], usable: ["oidc.a"]) }
        try unlink("oidc.a", own: "password", ["oidc.a"], usable: [])
    }

    @Test("the password needs a recent sign-in, a provider does not")
    func recent() throws {
        #expect(throws: UnlinkRule.Refusal.tooOld) { try unlink("password", own: "password", ["oidc.a"], recent: false) }
        try unlink("oidc.a", own: "password", ["oidc.a"], recent: false)
        try unlink("password", own: "password", ["oidc.a"])
    }

    @Test("five minutes are recent, a second more is not")
    func boundary() {
        #expect(RecentSignIn.isRecent(700, at: 1000))
        #expect(!RecentSignIn.isRecent(699, at: 1000))
    }
}
