import Contract
import Testing

@testable import Accounts

@Suite("sign-in with a provider, row by row (firebase.md 5.1)")
struct FederatedSignInTests {
    private typealias Facts = FederatedSignIn.Facts
    private typealias Owner = FederatedSignIn.Owner
    private typealias Decision = FederatedSignIn.Decision

    private func decide(_ facts: Facts) throws -> Decision { try FederatedSignIn.decide(facts) }

    @Test("row 1: a login that leads somewhere leads there, whatever else is true")
    func row1() throws {
        for oneAccount in [true, false] {
            for trusted in [true, false] {
                for holder in [nil, Owner(id: "e"), Owner(id: "e", isEmailVerified: true)] {
                    let facts = Facts(
                        providerId: "oidc.a", isTrusted: trusted, oneAccountPerAddress: oneAccount, owner: Owner(id: "p"),
                        addressOwner: holder)
                    #expect(try decide(facts) == .signIn("p"))
                }
            }
        }
    }

    @Test("row 2: an address that nobody has becomes a new account's")
    func row2() throws {
        #expect(try decide(Facts(providerId: "oidc.a")) == .create(withAddress: true))
        #expect(try decide(Facts(providerId: "oidc.a", isTrusted: true)) == .create(withAddress: true))
    }

    @Test("row 3: a trusted provider leads to the account whose verified address it says")
    func row3() throws {
        let facts = Facts(
            providerId: "oidc.a", isTrusted: true, addressOwner: Owner(id: "e", isEmailVerified: true, logins: ["google.com": "1"]))
        #expect(try decide(facts) == .link("e"))
    }

    @Test("row 4: an account whose address was never verified is taken over")
    func row4() throws {
        let facts = Facts(providerId: "oidc.a", isTrusted: true, addressOwner: Owner(id: "e", logins: ["google.com": "1"]))
        #expect(try decide(facts) == .takeOver("e"))
    }

    @Test("row 5: another subject of the same provider never leads to the account by its address (CVE-2023-3128)")
    func row5() throws {
        for trusted in [true, false] {
            for verified in [true, false] {
                let holder = Owner(id: "e", isEmailVerified: verified, logins: ["oidc.a": "old", "google.com": "1"])
                #expect(
                    try decide(Facts(providerId: "oidc.a", isTrusted: trusted, addressOwner: holder))
                        == .providerRequired("e", providers: ["google.com", "oidc.a"]))
            }
        }
    }

    @Test("row 6: a provider that is not trusted leads to nobody else's account, and says which ones do")
    func row6() throws {
        for verified in [true, false] {
            let holder = Owner(id: "e", isEmailVerified: verified, logins: ["google.com": "1", "apple.com": "2"])
            #expect(
                try decide(Facts(providerId: "oidc.a", addressOwner: holder))
                    == .providerRequired("e", providers: ["apple.com", "google.com"]))
        }
    }

    @Test("row 7: without an address there is a new account without one")
    func row7() throws {
        #expect(try decide(Facts(providerId: "oidc.a", hasAddress: false, isTrusted: true)) == .create(withAddress: false))
    }

    @Test("row 8: where an address can have several accounts it leads to none, and the new one has none of its own")
    func row8() throws {
        let holder = Owner(id: "e", isEmailVerified: true)
        let facts = Facts(providerId: "oidc.a", isTrusted: true, oneAccountPerAddress: false, addressOwner: holder)
        #expect(try decide(facts) == .create(withAddress: false))
    }

    @Test("row 9: a disabled account is refused before anything is written")
    func row9() {
        #expect(throws: AccountDisabled.self) { try decide(Facts(providerId: "oidc.a", owner: Owner(id: "p", isDisabled: true))) }
        for (trusted, verified) in [(true, true), (true, false), (false, true)] {
            let holder = Owner(id: "e", isDisabled: true, isEmailVerified: verified)
            #expect(throws: AccountDisabled.self) {
                try decide(Facts(providerId: "oidc.a", isTrusted: trusted, addressOwner: holder))
            }
        }
    }
}
