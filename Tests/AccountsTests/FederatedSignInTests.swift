import Contract
import Testing

@testable import Accounts

/// The rows are those of Sources/Accounts/README.md, "Sign-in with an identity provider".
@Suite("decision table of sign-in with a provider")
struct FederatedSignInTests {
    private typealias Facts = FederatedSignIn.Facts
    private typealias Owner = FederatedSignIn.Owner
    private typealias Decision = FederatedSignIn.Decision

    private func decide(_ facts: Facts) throws -> Decision { try FederatedSignIn.decide(facts) }

    @Test("row 1: a linked login signs in to its account, whatever the other facts")
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

    @Test("row 2: a login with an unused address creates an account with the address")
    func row2() throws {
        #expect(try decide(Facts(providerId: "oidc.a")) == .create(withAddress: true))
        #expect(try decide(Facts(providerId: "oidc.a", isTrusted: true)) == .create(withAddress: true))
    }

    @Test("row 3: a trusted provider links the login to the account with the verified address")
    func row3() throws {
        let facts = Facts(
            providerId: "oidc.a", isTrusted: true, addressOwner: Owner(id: "e", isEmailVerified: true, logins: ["google.com": "1"]))
        #expect(try decide(facts) == .link("e"))
    }

    @Test("row 4: a trusted provider claims an account whose address was never verified")
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

    @Test("row 6: an untrusted provider is not linked by its address, and the response names the account's providers")
    func row6() throws {
        for verified in [true, false] {
            let holder = Owner(id: "e", isEmailVerified: verified, logins: ["google.com": "1", "apple.com": "2"])
            #expect(
                try decide(Facts(providerId: "oidc.a", addressOwner: holder))
                    == .providerRequired("e", providers: ["apple.com", "google.com"]))
        }
    }

    @Test("row 7: a login without an address creates an account without an address")
    func row7() throws {
        #expect(try decide(Facts(providerId: "oidc.a", hasAddress: false, isTrusted: true)) == .create(withAddress: false))
    }

    @Test("row 8: if addresses are not unique, the login creates an account without an address")
    func row8() throws {
        let holder = Owner(id: "e", isEmailVerified: true)
        let facts = Facts(providerId: "oidc.a", isTrusted: true, oneAccountPerAddress: false, addressOwner: holder)
        #expect(try decide(facts) == .create(withAddress: false))
    }

    @Test("row 9: a disabled account is rejected before anything is written")
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
