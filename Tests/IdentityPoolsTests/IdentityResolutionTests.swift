import Contract
import Testing

@testable import IdentityPools

/// A test identity. Names with `g` are guests, with `d` disabled, others authenticated; `a` is older than `b`.
private func identity(_ name: String) -> Identity {
    let state: Identity.State = name.hasPrefix("g") ? .guest : name.hasPrefix("d") ? .disabled : .authenticated
    return Identity(id: name, poolId: "p", state: state, createdAt: name.hasPrefix("b") ? 200 : 100, updatedAt: 300)
}

private let google = Login(provider: "accounts.google.com", subject: "app:1")
private let otherGoogle = Login(provider: "accounts.google.com", subject: "app:2")
private let own = Login(provider: "login.example.com", subject: "u")
private let user = Login(provider: "login.shop", subject: "alice")

/// The decision for a call with these logins. `owned` maps logins to the identities that own them.
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

/// The rows are those of Sources/IdentityPools/README.md, "Identity resolution", table 7.1.
@Suite("decision table of public logins")
struct PublicResolutionTests {
    @Test("row 1: without logins, a guest is created if the pool allows guests")
    func row1() throws {
        #expect(try decide([]) == .create([]))
        #expect(throws: UnauthenticatedNotAllowed(poolId: "p")) { try decide([], guests: false) }
    }

    @Test("row 2: logins without an owner get a new identity")
    func row2() throws { #expect(try decide([google, own]) == .create([google, own])) }

    @Test("row 3: the owner is returned, and the other logins are linked to it")
    func row3() throws {
        #expect(try decide([google], owned: [google: "a"]) == .keep("a"))
        #expect(try decide([google, own], owned: [google: "a"]) == join("a", linking: [own]))
    }

    @Test("row 4: several owners are merged")
    func row4() throws { #expect(try decide([google, own], owned: [google: "b", own: "a"]) == join("a", absorbing: ["b"])) }

    @Test("row 5: an unknown identity is rejected", arguments: [[], [google]])
    func row5(logins: [Login]) { #expect(throws: IdentityNotFound(identityId: "n")) { try decide(given: "n", logins) } }

    @Test("row 6: a disabled identity is rejected", arguments: [[], [google]])
    func row6(logins: [Login]) { #expect(throws: IdentityDisabled(identityId: "d")) { try decide(given: "d", logins) } }

    @Test("row 7: a guest remains a guest if the pool allows guests")
    func row7() throws {
        #expect(try decide(given: "g", []) == .keep("g"))
        #expect(throws: UnauthenticatedNotAllowed(poolId: "p")) { try decide(given: "g", [], guests: false) }
    }

    @Test("row 8: an authenticated identity requires a login")
    func row8() { #expect(throws: IdentityForbidden(identityId: "a")) { try decide(given: "a", []) } }

    @Test("row 9: a guest with a login becomes authenticated and keeps its ID")
    func row9() throws { #expect(try decide(given: "g", [google]) == join("g", linking: [google])) }

    @Test("row 10: a guest with the login of another identity is merged into that identity")
    func row10() throws {
        #expect(try decide(given: "g", [google], owned: [google: "b"]) == join("b", absorbing: ["g"]))
        #expect(try decide(given: "g", [google, own], owned: [google: "b"]) == join("b", absorbing: ["g"], linking: [own]))
    }

    @Test("row 11: a guest is never the target of a merge with authenticated identities")
    func row11() throws {
        #expect(try decide(given: "g", [google, own], owned: [google: "b", own: "a"]) == join("a", absorbing: ["g", "b"]))
    }

    @Test("row 12: logins that do not belong to the identity are rejected", arguments: [[:], [google: "b"]])
    func row12(owned: [Login: String]) {
        #expect(throws: LoginsDoNotMatch(identityId: "a")) { try decide(given: "a", [google], owned: owned, has: ["a": [own]]) }
    }

    @Test("row 13: one login of the identity suffices, and the others are linked")
    func row13() throws {
        #expect(try decide(given: "a", [google, own], owned: [google: "a"]) == join("a", linking: [own]))
        #expect(try decide(given: "a", [google], owned: [google: "a"]) == .keep("a"))
    }

    @Test("row 14: with logins of two identities, the younger one is merged into the older one")
    func row14() throws {
        #expect(try decide(given: "b", [google, own], owned: [google: "b", own: "a"]) == join("a", absorbing: ["b"]))
        #expect(try decide(given: "a", [google, own], owned: [google: "a", own: "b"]) == join("a", absorbing: ["b"]))
    }
}

@Suite("conflicts of logins")
struct LinkConflictTests {
    @Test("a second user of one public provider conflicts")
    func secondUser() {
        #expect(throws: LoginConflict.self) {
            try decide([own, otherGoogle], owned: [own: "a"], has: ["a": [own, google]])
        }
    }

    @Test("a merge of identities with different users of one provider conflicts")
    func merge() {
        #expect(throws: LoginConflict.self) {
            try decide([own, user], owned: [own: "a", user: "b"], has: ["a": [own, google], "b": [user, otherGoogle]])
        }
    }

    @Test("several developer user identifiers do not conflict")
    func developers() throws {
        let others = (0..<18).map { Login(provider: "login.shop", subject: "user \($0)") }
        #expect(try decide([google, own], owned: [google: "a"], has: ["a": others + [google]]) == join("a", linking: [own]))
    }

    @Test("a twenty-first login conflicts")
    func limit() {
        let others = (0..<19).map { Login(provider: "login.shop", subject: "user \($0)") }
        #expect(throws: LoginConflict.self) { try decide([google, own], owned: [google: "a"], has: ["a": others + [google]]) }
    }

    @Test("the target of a merge is the oldest identity, then the one with the lowest ID, and never a guest")
    func parent() {
        #expect(IdentityResolution.parent(of: [identity("b"), identity("a")]).id == "a")
        #expect(IdentityResolution.parent(of: [identity("a2"), identity("a1")]).id == "a1")
        #expect(IdentityResolution.parent(of: [identity("g"), identity("b")]).id == "b")
    }
}

/// The rows are those of Sources/IdentityPools/README.md, "Identity resolution", table 7.3.
@Suite("decision table of developer tokens")
struct DeveloperResolutionTests {
    private func mint(
        given: String? = nil, _ proofs: [Login] = [], owned: [Login: String] = [:], has: [String: [Login]] = [:]
    ) throws -> IdentityResolution.Decision {
        try decide(given: given, [user] + proofs, owned: owned, guests: false, developer: user, has: has)
    }

    @Test("row 1: an unknown user gets a new identity")
    func row1() throws { #expect(try mint() == .create([user])) }

    @Test("row 2: logins without an owner are all linked to the new identity")
    func row2() throws { #expect(try mint([google]) == .create([user, google])) }

    @Test("row 3: an unknown user with a known login is linked to the owner of the login")
    func row3() throws { #expect(try mint([google], owned: [google: "a"]) == join("a", linking: [user])) }

    @Test("row 4: a known user keeps the identity")
    func row4() throws { #expect(try mint(owned: [user: "a"]) == .keep("a")) }

    @Test("row 5: new logins of a known user are linked")
    func row5() throws { #expect(try mint([google], owned: [user: "a"]) == join("a", linking: [google])) }

    @Test("row 6: a known user with linked logins changes nothing")
    func row6() throws { #expect(try mint([google], owned: [user: "a", google: "a"]) == .keep("a")) }

    @Test("row 7: a known user with a login of another identity merges the two")
    func row7() throws { #expect(try mint([google], owned: [user: "b", google: "a"]) == join("a", absorbing: ["b"])) }

    @Test("row 8: a guest becomes authenticated and keeps its ID, even if the pool does not allow guests")
    func row8() throws {
        #expect(try mint(given: "g") == join("g", linking: [user]))
        #expect(try mint(given: "g", [google]) == join("g", linking: [user, google]))
    }

    @Test("row 9: a guest with a known login is merged into the owner of the login")
    func row9() throws { #expect(try mint(given: "g", [google], owned: [google: "a"]) == join("a", absorbing: ["g"], linking: [user])) }

    @Test("row 10: an unknown user cannot claim an authenticated identity by its ID", arguments: [[], [google]])
    func row10(proofs: [Login]) {
        #expect(throws: LoginsDoNotMatch(identityId: "a")) { try mint(given: "a", proofs, has: ["a": [own]]) }
    }

    @Test("row 11: a login of the identity allows an unknown user to be linked to it")
    func row11() throws {
        #expect(try mint(given: "a", [google], owned: [google: "a"]) == join("a", linking: [user]))
        #expect(
            try mint(given: "a", [google, own], owned: [google: "a", own: "b"]) == join("a", absorbing: ["b"], linking: [user]))
    }

    @Test("row 12: naming the user's own identity changes nothing")
    func row12() throws { #expect(try mint(given: "a", owned: [user: "a"]) == .keep("a")) }

    @Test("row 13: a user of another identity is rejected", arguments: ["a", "g"])
    func row13(given: String) {
        #expect(throws: DeveloperUserAlreadyRegistered(provider: "login.shop", identityId: given)) {
            try mint(given: given, owned: [user: "b"])
        }
    }

    @Test("row 14: a disabled identity is rejected for every user", arguments: [[:], [user: "a"]])
    func row14(owned: [Login: String]) {
        #expect(throws: IdentityDisabled(identityId: "d")) { try mint(given: "d", owned: owned) }
    }

    @Test("row 15: an unknown identity is rejected", arguments: [[:], [user: "a"]])
    func row15(owned: [Login: String]) {
        #expect(throws: IdentityNotFound(identityId: "n")) { try mint(given: "n", owned: owned) }
    }

    @Test("only a decision with changes starts a write")
    func writes() {
        #expect(!IdentityResolution.Decision.keep("x").writes)
        #expect(IdentityResolution.Decision.create([]).writes && join("a", linking: [user]).writes)
    }
}
