import Crypto
import Glibc
import Platform

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
    private let nobody: StoredPassword

    /// - Parameter cost: scrypt's N.
    init(cost: Int, vault: Vault, random: any RandomSource) {
        self.cost = cost
        self.random = random
        self.vault = vault
        room = Gate(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        nobody = StoredPassword(cost: cost, salt: [UInt8](repeating: 0, count: 16), hash: [UInt8](repeating: 0, count: 32))
    }

    /// What is kept of a password, sealed.
    ///
    /// - Parameter name: whose it is; it opens under this name alone.
    func sealed(_ password: String, as name: String) throws -> [UInt8] {
        let salt = random.bytes(16)
        let hash = try derive(password, salt: salt, cost: cost)
        return vault.seal(SecretBytes(StoredPassword(cost: cost, salt: salt, hash: hash).bytes), as: "password \(name)")
    }

    /// Whether `password` is the one that was sealed; always no, and as late, if none was.
    func matches(_ password: String, _ sealed: [UInt8]?, as name: String) throws -> Bool {
        let stored = try sealed.map { StoredPassword(bytes: try vault.open($0, as: "password \(name)").copy()) } ?? nobody
        let isRight = constantTimeEquals(try derive(password, salt: stored.salt, cost: stored.cost), stored.hash)
        return isRight && sealed != nil
    }

    /// The same password under another name.
    func moved(_ sealed: [UInt8], from name: String, to other: String) throws -> [UInt8] {
        vault.seal(try vault.open(sealed, as: "password \(name)"), as: "password \(other)")
    }

    private func derive(_ password: String, salt: [UInt8], cost: Int) throws -> [UInt8] {
        room.wait { free -> Void? in
            guard free > 0 else { return nil }
            free -= 1
            return ()
        }
        defer {
            room.withLock { $0 += 1 }
            room.broadcast()
        }
        return try Scrypt.derive(password: Array(password.utf8), salt: salt, n: cost, r: 8, p: 1, count: 32).copy()
    }
}

/// Salt and hash of a password, and what it cost: version ‖ log2 N ‖ salt ‖ hash.
private struct StoredPassword {
    let cost: Int
    let salt: [UInt8]
    let hash: [UInt8]

    init(cost: Int, salt: [UInt8], hash: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    init(bytes: [UInt8]) {
        cost = bytes.count == 50 ? 1 << Int(bytes[1]) : 2
        salt = Array(bytes.dropFirst(2).prefix(16))
        hash = Array(bytes.dropFirst(18))
    }

    var bytes: [UInt8] { [1, UInt8(cost.trailingZeroBitCount)] + salt + hash }
}
