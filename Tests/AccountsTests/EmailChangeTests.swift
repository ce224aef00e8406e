import Contract
import Testing

@testable import Accounts

@Suite("change of an account's email address")
struct EmailChangeTests {
    private static let own = "a"

    private func decide(
        _ wanted: String, present: String? = "Alice@example.com", isVerified: Bool = true, owner: String? = nil, isHidden: Bool = false
    ) throws -> EmailChange {
        try EmailChange.decide(
            try Username(wanted),
            EmailChange.Facts(accountId: Self.own, present: present, isVerified: isVerified, owner: owner, isHidden: isHidden))
    }

    @Test("an unused address can be set")
    func free() throws {
        #expect(try decide("new@example.com") == .change)
        #expect(try decide("new@example.com", isVerified: false) == .change)
        #expect(try decide("new@example.com", present: nil) == .change)
    }

    @Test("the current address needs verification only if it is unverified or its case changes")
    func present() throws {
        #expect(try decide("Alice@example.com", owner: Self.own) == .nothing)
        #expect(try decide("Alice@example.com", isVerified: false, owner: Self.own) == .verification)
        #expect(try decide("alice@EXAMPLE.com", owner: Self.own) == .verification)
    }

    @Test(
        "another account's address is rejected, or is ignored if accounts are hidden", arguments: ["bob@example.com", "Alice@example.com"])
    func taken(_ wanted: String) throws {
        #expect(throws: UserAlreadyExists(next: "account.changeEmail", hint: "using another email address")) {
            try decide(wanted, owner: "b")
        }
        #expect(try decide(wanted, owner: "b", isHidden: true) == .show)
    }

    @Test("a sign-in is recent for five minutes, including the last second")
    func recent() throws {
        #expect(throws: Never.self) { try RecentSignIn.check(authenticatedAt: 1000, at: 1300) }
        #expect(throws: RecentSignInRequired(authenticatedAt: 1000, maximumAgeSeconds: 300)) {
            try RecentSignIn.check(authenticatedAt: 1000, at: 1301)
        }
    }
}
