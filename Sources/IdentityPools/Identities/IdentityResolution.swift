import Contract
import Storage

/// Decides to which identity the logins of a call belong. The row numbers in the comments are those of the decision tables in
/// Sources/IdentityPools/README.md, "Identity resolution": 7.1 for public logins and 7.3 with a developer login. The tables differ only in
/// row 13 of 7.3.
enum IdentityResolution {
    /// An existing identity that the decision involves, with its logins.
    struct Participant: Sendable, Equatable {
        let identity: Identity
        var logins: [Login]
    }

    /// The state of the store on which the decision is based.
    struct Facts: Sendable {
        let poolId: String
        /// Whether the pool allows guests.
        let allowsGuests: Bool
        /// The identity that the caller gave.
        let given: Given
        /// The verified logins, at most one for each provider.
        let logins: [Login]
        /// The login that the application's backend asserts.
        let developerLogin: Login?
        /// The developer provider of the pool. It is the only provider of which an identity can have several logins.
        let developerProvider: String?
        /// The ID of the identity that owns each of `logins`, or `nil`.
        let owners: [String?]
        /// The identities that can be linked or merged. Empty if one identity owns all logins and none was given, since nothing changes
        /// then.
        let participants: [Participant]

        enum Given: Sendable, Equatable {
            case absent
            case notFound(String)
            case found(String)
        }
    }

    enum Decision: Storage.Decision, Sendable, Equatable {
        /// The identity is known, and nothing changes.
        case keep(String)
        /// Create an identity with these logins. Without logins it is a guest.
        case create([Login])
        /// Link further logins to an identity, and merge other identities into it.
        case join(Join)

        var writes: Bool { if case .keep = self { false } else { true } }
    }

    struct Join: Sendable, Equatable {
        let parent: Identity
        /// The identities whose logins move to the parent. They are then disabled.
        let absorbing: [Identity]
        let linking: [Login]
    }

    /// The maximum number of logins of an identity.
    static let mostLogins = 20

    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `UnauthenticatedNotAllowed`, `LoginsDoNotMatch`,
    ///   `DeveloperUserAlreadyRegistered`, `LoginConflict`.
    static func decide(_ facts: Facts) throws -> Decision {
        // The most frequent case, a returning user with one login: 7.1 row 3; 7.3 row 4.
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

    /// Merges the identities, and links the logins without an owner.
    private static func join(_ ids: [String], _ facts: Facts) throws -> Decision {
        let unowned = zip(facts.logins, facts.owners).filter { $0.1 == nil }.map(\.0)
        if ids.count == 1, unowned.isEmpty { return .keep(ids[0]) }
        let all = ids.map { facts.participant($0) }
        let parent = self.parent(of: all.map(\.identity))
        let logins = all.flatMap(\.logins) + unowned
        try refuseConflicts(among: logins, developerProvider: facts.developerProvider)
        return .join(Join(parent: parent, absorbing: all.map(\.identity).filter { $0.id != parent.id }, linking: unowned))
    }

    /// Returns the identity that remains after a merge. An authenticated identity takes precedence over a guest, an older identity over a
    /// newer one, and a lower ID over a higher one.
    static func parent(of identities: [Identity]) -> Identity {
        identities.min { a, b in
            if (a.state == .guest) != (b.state == .guest) { return b.state == .guest }
            return a.createdAt != b.createdAt ? a.createdAt < b.createdAt : a.id.utf8.lexicographicallyPrecedes(b.id.utf8)
        }!
    }

    /// - Throws: `LoginConflict` if there are two subjects of one public provider or more than 20 logins.
    /// - Source: Sources/IdentityPools/README.md, "7.2: conflicts and the parent of a merge".
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
    /// The identities that own a login of the call, without duplicates, in the order of the logins.
    var distinctOwners: [String] {
        var found: [String] = []
        for case let owner? in owners where !found.contains(owner) { found.append(owner) }
        return found
    }

    func owner(of login: Login) -> String? { logins.firstIndex(of: login).flatMap { owners[$0] } }

    func participant(_ id: String) -> IdentityResolution.Participant { participants.first { $0.identity.id == id }! }
}
