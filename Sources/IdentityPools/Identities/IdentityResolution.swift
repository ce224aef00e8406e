import Contract
import Storage

/// Whose the logins of a call are: cognito.md 7.1 for public logins, 7.3 with a developer login, which differs in row 13 alone.
enum IdentityResolution {
    /// An identity that takes part, with everything linked to it.
    struct Participant: Sendable, Equatable {
        let identity: Identity
        var logins: [Login]
    }

    /// What the store says before anything is decided.
    struct Facts: Sendable {
        let poolId: String
        /// Whether the pool has guests.
        let allowsGuests: Bool
        /// The identity that the caller named.
        let given: Given
        /// The logins that were proven, no provider twice.
        let logins: [Login]
        /// The login among them that the caller's own backend vouches for.
        let developerLogin: Login?
        /// The pool's developer provider: the only one that an identity may have several logins of.
        let developerProvider: String?
        /// For each of `logins` the id of the identity that owns it.
        let owners: [String?]
        /// Those that may be linked to or merged. Empty where one identity owns all logins and none was named: nothing changes then.
        let participants: [Participant]

        enum Given: Sendable, Equatable {
            case absent
            case notFound(String)
            case found(String)
        }
    }

    enum Decision: Storage.Decision, Sendable, Equatable {
        /// The identity is known and nothing changes.
        case keep(String)
        /// A new identity gets these logins; without any it is a guest.
        case create([Login])
        /// One identity gets further logins and everything that others have.
        case join(Join)

        var writes: Bool { if case .keep = self { false } else { true } }
    }

    struct Join: Sendable, Equatable {
        let parent: Identity
        /// Identities whose logins move to the parent, and which are then disabled.
        let absorbing: [Identity]
        let linking: [Login]
    }

    /// So many logins an identity has at most (cognito.md 1.4).
    static let mostLogins = 20

    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `UnauthenticatedNotAllowed`, `LoginsDoNotMatch`,
    ///   `DeveloperUserAlreadyRegistered`, `LoginConflict`.
    static func decide(_ facts: Facts) throws -> Decision {
        // A user who comes back with one login, which is most of what happens: 7.1 row 3; 7.3 row 4.
        if facts.given == .absent, facts.owners.count == 1, let owner = facts.owners[0] { return .keep(owner) }
        let owners = facts.distinctOwners
        switch facts.given {
        case .notFound(let id): throw IdentityNotFound(identityId: id)  // 7.1 row 5; 7.3 row 15
        case .absent:
            if facts.logins.isEmpty {  // 7.1 row 1
                guard facts.allowsGuests else { throw UnauthenticatedNotAllowed(poolId: facts.poolId) }
                return .create([])
            }
            if owners.isEmpty { return .create(facts.logins) }  // 7.1 row 2; 7.3 rows 1, 2
            return try join(owners, facts)  // 7.1 rows 3, 4; 7.3 rows 3 to 7
        case .found(let id):
            let given = facts.participant(id)
            switch given.identity.state {
            case .disabled: throw IdentityDisabled(identityId: id)  // 7.1 row 6; 7.3 row 14
            case .guest where facts.logins.isEmpty:  // 7.1 row 7
                guard facts.allowsGuests else { throw UnauthenticatedNotAllowed(poolId: facts.poolId) }
                return .keep(id)
            case .authenticated where facts.logins.isEmpty: throw IdentityForbidden(identityId: id)  // 7.1 row 8
            case .guest, .authenticated: break
            }
            if let login = facts.developerLogin, let owner = facts.owner(of: login), owner != id {  // 7.3 row 13
                throw DeveloperUserAlreadyRegistered(provider: login.provider, identityId: id)
            }
            if given.identity.state == .authenticated, !owners.contains(id) {  // 7.1 row 12; 7.3 row 10
                throw LoginsDoNotMatch(identityId: id)
            }
            // 7.1 rows 9 to 11, 13, 14; 7.3 rows 8, 9, 11, 12
            return try join(owners.contains(id) ? owners : [id] + owners, facts)
        }
    }

    /// Makes one identity of several, and links what nobody owns (7.2).
    private static func join(_ ids: [String], _ facts: Facts) throws -> Decision {
        let unowned = zip(facts.logins, facts.owners).filter { $0.1 == nil }.map(\.0)
        if ids.count == 1, unowned.isEmpty { return .keep(ids[0]) }
        let all = ids.map { facts.participant($0) }
        let parent = self.parent(of: all.map(\.identity))
        let logins = all.flatMap(\.logins) + unowned
        try refuseConflicts(among: logins, developerProvider: facts.developerProvider)
        return .join(Join(parent: parent, absorbing: all.map(\.identity).filter { $0.id != parent.id }, linking: unowned))
    }

    /// The identity that stays: a guest never if somebody signed in takes part; else the older one, then the one with the lower id.
    static func parent(of identities: [Identity]) -> Identity {
        identities.min { a, b in
            if (a.state == .guest) != (b.state == .guest) { return b.state == .guest }
            return a.createdAt != b.createdAt ? a.createdAt < b.createdAt : a.id.utf8.lexicographicallyPrecedes(b.id.utf8)
        }!
    }

    /// - Throws: `LoginConflict` for two users of one public provider, and for more than 20 logins.
    static func refuseConflicts(among logins: [Login], developerProvider: String?) throws {
        var users: [String: String] = [:]
        for login in logins where login.provider != developerProvider {
            if let other = users.updateValue(login.subject, forKey: login.provider), other != login.subject {
                throw LoginConflict(provider: login.provider, reason: "the identity already has another login of this provider")
            }
        }
        if logins.count > mostLogins {
            throw LoginConflict(
                provider: logins.last!.provider, reason: "the identity would have \(logins.count) logins; the maximum is \(mostLogins)")
        }
    }
}

extension IdentityResolution.Facts {
    /// The identities that own a login of the call, each once, in the order of the logins.
    var distinctOwners: [String] {
        var found: [String] = []
        for case let owner? in owners where !found.contains(owner) { found.append(owner) }
        return found
    }

    func owner(of login: Login) -> String? { logins.firstIndex(of: login).flatMap { owners[$0] } }

    func participant(_ id: String) -> IdentityResolution.Participant { participants.first { $0.identity.id == id }! }
}
