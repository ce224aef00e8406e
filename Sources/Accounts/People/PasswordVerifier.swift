import Crypto
import Glibc
import Platform
import ServiceContext

/// Hashes passwords with scrypt (RFC 7914), as many at a time as there are cores: each takes 128 MiB for half a second.
public final class PasswordHasher: Sendable {
    /// What a hash of a password costs outside of tests.
    public static let cost = 1 << 17
    /// And in a testing store, where nothing is worth guessing.
    public static let testingCost = 1 << 10

    private let cost: Int
    private let random: any RandomSource
    private let vault: Vault
    private let room: Gate<Int>
    /// Nobody's password, so that unknown people cost the time of known ones.
    private let nobody: OwnPassword

    /// - Parameter cost: scrypt's N.
    init(cost: Int, vault: Vault, random: any RandomSource) {
        self.cost = cost
        self.random = random
        self.vault = vault
        room = Gate(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        nobody = OwnPassword(
            cost: cost, salt: [UInt8](repeating: 0, count: OwnPassword.saltCount), hash: [UInt8](repeating: 0, count: OwnPassword.hashCount)
        )
    }

    /// What is kept of a password, sealed.
    ///
    /// - Parameter name: whose it is; it opens under this name alone.
    func sealed(_ password: String, as name: String) throws -> [UInt8] { seal(.own(try own(password)), as: name) }

    /// A hash that was made elsewhere, sealed. One that is like those of this store is one of them from now on.
    package func sealed(_ hashed: HashedPassword, as name: String) -> [UInt8] {
        seal(
            hashed.isOwn(at: cost) ? .own(OwnPassword(cost: cost, salt: hashed.salt, hash: hashed.hash)) : .foreign(hashed), as: name)
    }

    /// What there is for somebody who has a password, where nothing is known of it.
    package func sealedUnknown(as name: String) -> [UInt8] { seal(.unknown, as: name) }

    /// What was sealed, for whoever may have it; nil where nothing is known of the password.
    package func hashed(_ sealed: [UInt8], as name: String) throws -> HashedPassword? { try open(sealed, as: name).hashed }

    /// Whether there is a password of which something is known.
    func isKnown(_ sealed: [UInt8]?, as name: String) throws -> Bool {
        guard let sealed else { return false }
        if case .unknown = try open(sealed, as: name) { return false }
        return true
    }

    /// Whether `password` is the one that was sealed; always no, and as late, if none was. One that was hashed elsewhere takes the time of
    /// that hash beside: it is hashed anew, whether it is right or wrong.
    func match(_ password: String, _ sealed: [UInt8]?, as name: String) throws -> PasswordMatch {
        guard let sealed else {
            _ = try derive(password, like: nobody)
            return PasswordMatch(isRight: false, sealed: nil)
        }
        switch try open(sealed, as: name) {
        case .own(let own): return PasswordMatch(isRight: constantTimeEquals(try derive(password, like: own), own.hash), sealed: sealed)
        case .unknown:
            _ = try derive(password, like: nobody)
            return PasswordMatch(isRight: false, sealed: sealed)
        case .foreign(let foreign):
            let hash = try alone { try foreign.how.hash(password, salt: foreign.salt, count: foreign.hash.count) }
            var fresh = try own(password)
            fresh.replaced = try mark(of: sealed, as: name)
            let isRight = constantTimeEquals(hash, foreign.hash)
            return PasswordMatch(isRight: isRight, sealed: sealed, upgraded: isRight ? seal(.own(fresh), as: name) : nil)
        }
    }

    /// Whether `password` is the one that was sealed.
    func matches(_ password: String, _ sealed: [UInt8]?, as name: String) throws -> Bool { try match(password, sealed, as: name).isRight }

    /// Whether what is there now is what a password was held against, or the same password hashed anew by somebody else who signed in.
    func isSame(_ present: [UInt8]?, as before: [UInt8]?, of name: String) throws -> Bool {
        if present == before { return true }
        guard let present, let before, case .own(let own) = try open(present, as: name), let replaced = own.replaced else { return false }
        return constantTimeEquals(replaced, try mark(of: before, as: name))
    }

    /// The same password under another name.
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

    /// Waits until a core is free for it.
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

/// What came of holding a password against what is kept of an account's own.
struct PasswordMatch: Sendable {
    let isRight: Bool
    /// What it was held against.
    let sealed: [UInt8]?
    /// What is to be kept from now on, where that was hashed elsewhere.
    var upgraded: [UInt8]?
}
