import Crypto
import Glibc
import Platform
import ServiceContext

/// Hashes passwords with scrypt (RFC 7914). At most one hash per core runs at a time: each requires 128 MiB for about half a second.
public final class PasswordHasher: Sendable {
    /// The scrypt cost N outside of tests.
    public static let cost = 1 << 17
    /// The scrypt cost N in testing stores, which hold no real passwords.
    public static let testingCost = 1 << 4

    private let cost: Int
    private let random: any RandomSource
    private let vault: Vault
    private let room: ConditionLock<Int>
    /// A placeholder hash, so that unknown accounts take as long as existing ones.
    private let placeholder: OwnPassword

    /// - Parameter cost: The scrypt cost N.
    init(cost: Int, vault: Vault, random: any RandomSource) {
        self.cost = cost
        self.random = random
        self.vault = vault
        room = ConditionLock(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        placeholder = OwnPassword(
            cost: cost, salt: [UInt8](repeating: 0, count: OwnPassword.saltCount), hash: [UInt8](repeating: 0, count: OwnPassword.hashCount)
        )
    }

    /// Returns the encrypted hash of a password.
    ///
    /// - Parameter name: The name of the record. Decryption requires the same name.
    package func sealed(_ password: String, as name: String) throws -> [UInt8] { seal(.own(try own(password)), as: name) }

    /// Returns an encrypted imported hash. If its parameters equal those of this store, it is stored as a hash of this store.
    package func sealed(_ hashed: HashedPassword, as name: String) -> [UInt8] {
        seal(
            hashed.isOwn(at: cost) ? .own(OwnPassword(cost: cost, salt: hashed.salt, hash: hashed.hash)) : .foreign(hashed), as: name)
    }

    /// Returns the encrypted marker for an account that has a password whose hash is unknown.
    package func sealedUnknown(as name: String) -> [UInt8] { seal(.unknown, as: name) }

    /// Decrypts a password hash; returns `nil` if the hash is unknown.
    package func hashed(_ sealed: [UInt8], as name: String) throws -> HashedPassword? { try open(sealed, as: name).hashed }

    /// Returns whether there is a password whose hash is known.
    func isKnown(_ sealed: [UInt8]?, as name: String) throws -> Bool {
        guard let sealed else { return false }
        if case .unknown = try open(sealed, as: name) { return false }
        return true
    }

    /// Returns whether `password` matches the encrypted hash. Without a hash, the result is negative and takes the same time. An imported
    /// hash takes
    /// the additional time of its algorithm: the password is also hashed with this store's parameters, whether it is correct or not.
    func match(_ password: String, _ sealed: [UInt8]?, as name: String) throws -> PasswordVerification {
        guard let sealed else {
            _ = try derive(password, like: placeholder)
            return PasswordVerification(isRight: false, sealed: nil)
        }
        switch try open(sealed, as: name) {
        case .own(let own):
            return PasswordVerification(isRight: constantTimeEquals(try derive(password, like: own), own.hash), sealed: sealed)
        case .unknown:
            _ = try derive(password, like: placeholder)
            return PasswordVerification(isRight: false, sealed: sealed)
        case .foreign(let foreign):
            let hash = try alone { try foreign.how.hash(password, salt: foreign.salt, count: foreign.hash.count) }
            var fresh = try own(password)
            fresh.replaced = try mark(of: sealed, as: name)
            let isRight = constantTimeEquals(hash, foreign.hash)
            return PasswordVerification(isRight: isRight, sealed: sealed, upgraded: isRight ? seal(.own(fresh), as: name) : nil)
        }
    }

    /// Returns whether `password` matches the encrypted hash.
    func matches(_ password: String, _ sealed: [UInt8]?, as name: String) throws -> Bool { try match(password, sealed, as: name).isRight }

    /// Returns whether the stored hash is still the one that a password was verified against, or an upgrade of it by a concurrent sign-in.
    func isSame(_ present: [UInt8]?, as before: [UInt8]?, of name: String) throws -> Bool {
        if present == before { return true }
        guard let present, let before, case .own(let own) = try open(present, as: name), let replaced = own.replaced else { return false }
        return constantTimeEquals(replaced, try mark(of: before, as: name))
    }

    /// Encrypts the same password hash for another record.
    func moved(_ sealed: [UInt8], from name: String, to other: String) throws -> [UInt8] {
        vault.seal(try vault.open(sealed, as: "password \(name)"), as: "password \(other)")
    }

    private func own(_ password: String) throws -> OwnPassword {
        let salt = random.bytes(OwnPassword.saltCount)
        let empty = OwnPassword(cost: cost, salt: salt, hash: [])
        return OwnPassword(cost: cost, salt: salt, hash: try derive(password, like: empty))
    }

    private func derive(_ password: String, like own: OwnPassword) throws -> [UInt8] {
        try alone { try PasswordHash.own(cost: own.cost).hash(password, salt: own.salt, count: OwnPassword.hashCount) }
    }

    private func seal(_ stored: StoredPassword, as name: String) -> [UInt8] {
        vault.seal(SecretBytes(stored.bytes), as: "password \(name)")
    }

    private func open(_ sealed: [UInt8], as name: String) throws -> StoredPassword {
        StoredPassword(bytes: try vault.open(sealed, as: "password \(name)").copy())
    }

    private func mark(of sealed: [UInt8], as name: String) throws -> [UInt8] {
        StoredPassword.mark(of: try vault.open(sealed, as: "password \(name)").copy())
    }

    /// Waits until a core is free, then runs `body`.
    private func alone<R>(_ body: () throws -> R) throws -> R {
        room.wait { free -> Void? in
            guard free > 0 else { return nil }
            free -= 1
            return ()
        }
        defer {
            room.withLock { $0 += 1 }
            room.broadcast()
        }
        return try body()
    }
}

/// The result of verifying a password.
struct PasswordVerification: Sendable {
    let isRight: Bool
    /// The encrypted hash against which the password was verified.
    let sealed: [UInt8]?
    /// The encrypted hash that must replace an imported one.
    var upgraded: [UInt8]?
}
