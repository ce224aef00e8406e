import Contract
import Testing

@testable import IdentityPools

/// Identities and logins of the tables: `a` and `b` are authenticated, `a` the older; `g` is a guest, `d` disabled.
private func identity(_ name: String) -> Identity {
    let state: Identity.State = name.hasPrefix("g") ? .guest : name.hasPrefix("d") ? .disabled : .authenticated
    return Identity(id: name, poolId: "p", state: state, createdAt: name.hasPrefix("b") ? 200 : 100, updatedAt: 300)
}

private let google = Login(provider: "accounts.google.com", subject: "app:1")
private let otherGoogle = Login(provider: "accounts.google.com", subject: "app:2")
private let own = Login(provider: "login.example.com", subject: "u")
private let user = Login(provider: "login.shop", subject: "alice")

/// A call with these logins, of which `owned` belong to identities.
private func decide(
    given: String? = nil, _ logins: [Login], owned: [Login: String] = [:], guests: Bool = true, developer: Login? = nil,
    has: [String: [Login]] = [:]
) throws -> IdentityResolution.Decision {
    let owners = logins.map { owned[$0] }
    let ids = Set(owners.compactMap { $0 } + (given.map { $0 == "n" ? [] : [$0] } ?? []))
    let participants = ids.sorted().map { id in
        IdentityResolution.Participant(identity: identity(id), logins: has[id] ?? owned.filter { $0.value == id }.map(\.key))
    }
    return try IdentityResolution.decide(
        .init(
            poolId: "p", allowsGuests: guests, given: given.map { $0 == "n" ? .notFound($0) : .found($0) } ?? .absent, logins: logins,
            developerLogin: developer, developerProvider: "login.shop", owners: owners, participants: participants))
}

private func join(_ parent: String, absorbing: [String] = [], linking: [Login] = []) -> IdentityResolution.Decision {
    .join(.init(parent: identity(parent), absorbing: absorbing.map(identity), linking: linking))
}

@Suite("whose public logins are (cognito.md 7.1)")
struct PublicResolutionTests {
    @Test("row 1: without logins a guest is made, where there are guests")
    func row1() throws {
        #expect(try decide([]) == .create([]))
        #expect(throws: UnauthenticatedNotAllowed(poolId: "p")) { try decide([], guests: false) }
    }

    @Test("row 2: logins that nobody owns get a new identity")
    func row2() throws { #expect(try decide([google, own]) == .create([google, own])) }

    @Test("row 3: the owner is answered, and gets the other logins")
    func row3() throws {
        #expect(try decide([google], owned: [google: "a"]) == .keep("a"))
        #expect(try decide([google, own], owned: [google: "a"]) == join("a", linking: [own]))
    }

    @Test("row 4: several owners become one")
    func row4() throws { #expect(try decide([google, own], owned: [google: "b", own: "a"]) == join("a", absorbing: ["b"])) }

    @Test("row 5: an identity that is not there is refused", arguments: [[], [google]])
    func row5(logins: [Login]) { #expect(throws: IdentityNotFound(identityId: "n")) { try decide(given: "n", logins) } }

    @Test("row 6: a disabled identity is refused", arguments: [[], [google]])
    func row6(logins: [Login]) { #expect(throws: IdentityDisabled(identityId: "d")) { try decide(given: "d", logins) } }

    @Test("row 7: a guest is a guest, where there are guests")
    func row7() throws {
        #expect(try decide(given: "g", []) == .keep("g"))
        #expect(throws: UnauthenticatedNotAllowed(poolId: "p")) { try decide(given: "g", [], guests: false) }
    }

    @Test("row 8: somebody's identity needs a login")
    func row8() { #expect(throws: IdentityForbidden(identityId: "a")) { try decide(given: "a", []) } }

    @Test("row 9: a guest becomes somebody under the same id")
    func row9() throws { #expect(try decide(given: "g", [google]) == join("g", linking: [google])) }

    @Test("row 10: a guest who turns out to be known goes up in that identity")
    func row10() throws {
        #expect(try decide(given: "g", [google], owned: [google: "b"]) == join("b", absorbing: ["g"]))
        #expect(try decide(given: "g", [google, own], owned: [google: "b"]) == join("b", absorbing: ["g"], linking: [own]))
    }

    @Test("row 11: a guest is never the parent of those who signed in")
    func row11() throws {
        #expect(try decide(given: "g", [google, own], owned: [google: "b", own: "a"]) == join("a", absorbing: ["g", "b"]))
    }

    @Test("row 12: logins that are none of the identity's are refused", arguments: [[:], [google: "b"]])
    func row12(owned: [Login: String]) {
        #expect(throws: LoginsDoNotMatch(identityId: "a")) { try decide(given: "a", [google], owned: owned, has: ["a": [own]]) }
    }

    @Test("row 13: one login of the identity proves it, the others are linked")
    func row13() throws {
        #expect(try decide(given: "a", [google, own], owned: [google: "a"]) == join("a", linking: [own]))
        #expect(try decide(given: "a", [google], owned: [google: "a"]) == .keep("a"))
    }

    @Test("row 14: one login of the identity, another of somebody else's: the older identity stays")
    func row14() throws {
        #expect(try decide(given: "b", [google, own], owned: [google: "b", own: "a"]) == join("a", absorbing: ["b"]))
        #expect(try decide(given: "a", [google, own], owned: [google: "a", own: "b"]) == join("a", absorbing: ["b"]))
    }
}

@Suite("what cannot be linked (cognito.md 7.2)")
struct LinkConflictTests {
    @Test("a second user of one public provider")
    func secondUser() {
        #expect(throws: LoginConflict.self) {
            try decide([own, otherGoogle], owned: [own: "a"], has: ["a": [own, google]])
        }
    }

    @Test("two identities with different users of one provider")
    func merge() {
        #expect(throws: LoginConflict.self) {
            try decide([own, user], owned: [own: "a", user: "b"], has: ["a": [own, google], "b": [user, otherGoogle]])
        }
    }

    @Test("several developer user identifiers are no conflict")
    func developers() throws {
        let others = (0..<18).map { Login(provider: "login.shop", subject: "user \($0)") }
        #expect(try decide([google, own], owned: [google: "a"], has: ["a": others + [google]]) == join("a", linking: [own]))
    }

    @Test("a twenty-first login")
    func limit() {
        let others = (0..<19).map { Login(provider: "login.shop", subject: "user \($0)") }
        #expect(throws: LoginConflict.self) { try decide([google, own], owned: [google: "a"], has: ["a": others + [google]]) }
    }

    @Test("the older identity stays, of two of one age the one with the lower id; a guest never does")
    func parent() {
        #expect(IdentityResolution.parent(of: [identity("b"), identity("a")]).id == "a")
        #expect(IdentityResolution.parent(of: [identity("a2"), identity("a1")]).id == "a1")
        #expect(IdentityResolution.parent(of: [identity("g"), identity("b")]).id == "b")
    }
}

@Suite("who a developer token is for (cognito.md 7.3)")
struct DeveloperResolutionTests {
    private func mint(
        given: String? = nil, _ proofs: [Login] = [], owned: [Login: String] = [:], has: [String: [Login]] = [:]
    ) throws -> IdentityResolution.Decision {
        try decide(given: given, [user] + proofs, owned: owned, guests: false, developer: user, has: has)
    }

    @Test("row 1: an unknown user gets a new identity")
    func row1() throws { #expect(try mint() == .create([user])) }

    @Test("row 2: with logins that nobody owns, all of them are linked")
    func row2() throws { #expect(try mint([google]) == .create([user, google])) }

    @Test("row 3: an unknown user with a known login is that login's owner")
    func row3() throws { #expect(try mint([google], owned: [google: "a"]) == join("a", linking: [user])) }

    @Test("row 4: a known user keeps the identity")
    func row4() throws { #expect(try mint(owned: [user: "a"]) == .keep("a")) }

    @Test("row 5: a known user gets new logins")
    func row5() throws { #expect(try mint([google], owned: [user: "a"]) == join("a", linking: [google])) }

    @Test("row 6: a known user with own logins changes nothing")
    func row6() throws { #expect(try mint([google], owned: [user: "a", google: "a"]) == .keep("a")) }

    @Test("row 7: a known user with a login of another identity merges the two")
    func row7() throws { #expect(try mint([google], owned: [user: "b", google: "a"]) == join("a", absorbing: ["b"])) }

    @Test("row 8: a guest becomes authenticated under the same id, also where there are no guests")
    func row8() throws {
        #expect(try mint(given: "g") == join("g", linking: [user]))
        #expect(try mint(given: "g", [google]) == join("g", linking: [user, google]))
    }

    @Test("row 9: a guest with a known login goes up in that identity")
    func row9() throws { #expect(try mint(given: "g", [google], owned: [google: "a"]) == join("a", absorbing: ["g"], linking: [user])) }

    @Test("row 10: an authenticated identity cannot be claimed by naming its id with a fresh identifier", arguments: [[], [google]])
    func row10(proofs: [Login]) {
        #expect(throws: LoginsDoNotMatch(identityId: "a")) { try mint(given: "a", proofs, has: ["a": [own]]) }
    }

    @Test("row 11: a login of the identity lets a fresh identifier be linked")
    func row11() throws {
        #expect(try mint(given: "a", [google], owned: [google: "a"]) == join("a", linking: [user]))
        #expect(
            try mint(given: "a", [google, own], owned: [google: "a", own: "b"]) == join("a", absorbing: ["b"], linking: [user]))
    }

    @Test("row 12: naming the user's own identity changes nothing")
    func row12() throws { #expect(try mint(given: "a", owned: [user: "a"]) == .keep("a")) }

    @Test("row 13: a user of another identity is refused", arguments: ["a", "g"])
    func row13(given: String) {
        #expect(throws: DeveloperUserAlreadyRegistered(provider: "login.shop", identityId: given)) {
            try mint(given: given, owned: [user: "b"])
        }
    }

    @Test("row 14: a disabled identity is refused, whoever asks", arguments: [[:], [user: "a"]])
    func row14(owned: [Login: String]) {
        #expect(throws: IdentityDisabled(identityId: "d")) { try mint(given: "d", owned: owned) }
    }

    @Test("row 15: an identity that is not there is refused", arguments: [[:], [user: "a"]])
    func row15(owned: [Login: String]) {
        #expect(throws: IdentityNotFound(identityId: "n")) { try mint(given: "n", owned: owned) }
    }

    @Test("only a decision that changes something writes")
    func writes() {
        #expect(!IdentityResolution.Decision.keep("x").writes)
        #expect(IdentityResolution.Decision.create([]).writes && join("a", linking: [user]).writes)
    }
}
