import Contract
import Testing

@testable import Identity

@Suite("who a developer token is for (cognito.md 7.3, no public login)")
struct DeveloperResolutionTests {
    private func decide(_ given: DeveloperResolution.Facts.Given, owner: String? = nil) throws -> DeveloperResolution.Decision {
        try DeveloperResolution.decide(.init(login: Login(provider: "login.shop", subject: "alice"), given: given, developerOwner: owner))
    }

    @Test("row 1: an unknown user gets a new identity")
    func row1() throws { #expect(try decide(.absent) == .create) }

    @Test("row 4: a known user keeps the identity")
    func row4() throws { #expect(try decide(.absent, owner: "x") == .keep("x")) }

    @Test("row 8: a guest becomes authenticated under the same id")
    func row8() throws { #expect(try decide(.guest("g")) == .upgrade("g")) }

    @Test("row 10: an authenticated identity cannot be claimed by naming its id with a fresh identifier")
    func row10() { #expect(throws: LoginsDoNotMatch(identityId: "a")) { try decide(.authenticated("a")) } }

    @Test("row 12: naming the user's own identity changes nothing")
    func row12() throws { #expect(try decide(.authenticated("a"), owner: "a") == .keep("a")) }

    @Test("row 13: a user of another identity is refused", arguments: [DeveloperResolution.Facts.Given.authenticated("a"), .guest("a")])
    func row13(given: DeveloperResolution.Facts.Given) {
        #expect(throws: DeveloperUserAlreadyRegistered(provider: "login.shop", identityId: "a")) { try decide(given, owner: "b") }
    }

    @Test("row 14: a disabled identity is refused, whoever asks", arguments: [nil, "d", "x"])
    func row14(owner: String?) { #expect(throws: IdentityDisabled(identityId: "d")) { try decide(.disabled("d"), owner: owner) } }

    @Test("row 15: an identity that is not there is refused", arguments: [nil, "x"])
    func row15(owner: String?) { #expect(throws: IdentityNotFound(identityId: "n")) { try decide(.notFound("n"), owner: owner) } }

    @Test("only a decision that changes something writes")
    func writes() {
        #expect(!DeveloperResolution.Decision.keep("x").writes)
        #expect(DeveloperResolution.Decision.create.writes && DeveloperResolution.Decision.upgrade("x").writes)
    }
}
