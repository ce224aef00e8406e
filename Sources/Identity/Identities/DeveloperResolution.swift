import Contract
import Storage

/// Who a developer token is for. The truth table of cognito.md 7.3, as far as no public login takes part.
enum DeveloperResolution {
    /// What the store says before anything is decided.
    struct Facts: Sendable {
        let login: Login
        /// The identity that the caller named.
        var given: Given
        /// The identity that owns the developer login.
        var developerOwner: String?

        enum Given: Sendable, Equatable {
            case absent
            case notFound(String)
            case guest(String)
            case authenticated(String)
            case disabled(String)
        }
    }

    enum Decision: Storage.Decision, Sendable, Equatable {
        /// The identity is known and nothing changes.
        case keep(String)
        /// A new identity gets the developer login.
        case create
        /// A guest becomes authenticated by the developer login.
        case upgrade(String)

        var writes: Bool {
            switch self {
            case .keep: false
            case .create, .upgrade: true
            }
        }
    }

    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `LoginsDoNotMatch`, `DeveloperUserAlreadyRegistered`.
    static func decide(_ facts: Facts) throws -> Decision {
        switch (facts.given, facts.developerOwner) {
        case (.absent, nil): return .create  // row 1
        case (.absent, let owner?): return .keep(owner)  // row 4
        case (.notFound(let id), _): throw IdentityNotFound(identityId: id)  // row 15
        case (.disabled(let id), _): throw IdentityDisabled(identityId: id)  // row 14
        case (.guest(let given), nil): return .upgrade(given)  // row 8
        case (.authenticated(let given), nil): throw LoginsDoNotMatch(identityId: given)  // row 10
        case (.guest(let given), let owner?), (.authenticated(let given), let owner?):
            if owner == given { return .keep(given) }  // row 12
            throw DeveloperUserAlreadyRegistered(provider: facts.login.provider, identityId: given)  // row 13
        }
    }
}
