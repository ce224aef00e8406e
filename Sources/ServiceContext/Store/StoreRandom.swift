import Crypto
import Platform
import Storage

/// The randomness of a testing store: the system's, until the store is given a seed. From then on all bytes come from the seed and
/// from a count of draws in the store, so that all its processes together never draw the same twice, and another store with this
/// seed and the same calls, one after the other, draws the same.
///
/// Never to be drawn from inside a transaction.
public struct StoreRandom: RandomSource {
    private let database: any Database
    private let system: any RandomSource

    /// - Parameter system: what serves where there is no seed, or no reading it.
    public init(_ database: any Database, otherwise system: any RandomSource) {
        self.database = database
        self.system = system
    }

    public func bytes(_ count: Int) -> [UInt8] { draw(count).bytes }

    public func draw(_ count: Int) -> RandomDraw {
        let turn = Patience.with(.full) { try? database.nextDraw() }
        guard let turn else { return system.draw(count) }
        return RandomDraw(bytes: Self.bytes(count, of: turn.seed, draw: turn.number), number: turn.number)
    }

    /// What the seed gives at one draw; up to 8160 bytes.
    package static func bytes(_ count: Int, of seed: String, draw number: Int64) -> [UInt8] { bytes(count, of: seed, for: "draw \(number)") }

    /// What the seed gives for one purpose, always the same.
    static func bytes(_ count: Int, of seed: String, for purpose: String) -> [UInt8] {
        HKDF.sha256(secret: SecretBytes(Array(seed.utf8)), salt: [], info: "mintmark \(purpose)", count: count).copy()
    }
}

extension Database {
    /// Takes the next number of the store's seed; nil without a seed.
    fileprivate func nextDraw() throws -> (seed: String, number: Int64)? {
        guard try read({ try $0.seed() }) != nil else { return nil }
        return try write { tx in
            try tx.lock(["seed"])
            guard let seed = try tx.seed() else { return nil }
            let number = try tx.storeFact("seed.draws").flatMap { Int64($0) } ?? 0
            try tx.setStoreFact("seed.draws", String(number + 1))
            return (seed, number)
        }
    }
}

extension ServiceContext {
    /// A key for one purpose that comes from the seed of a testing store; nil without one. Not to be asked for inside a transaction.
    package func seededKey(_ purpose: String) -> SecretBytes? {
        guard isTesting, let seed = try? Patience.with(.full, { try driver.read { try $0.seed() } }) else { return nil }
        return SecretBytes(StoreRandom.bytes(32, of: seed, for: purpose))
    }
}

extension Transaction {
    package func seed() throws -> String? { try storeFact("seed") }

    /// Draws from `seed` from now on. What this store has drawn from it before does not come again: keys and ids of it may be there.
    package func setSeed(_ seed: String) throws {
        let former = try self.seed()
        if former == seed { return }
        if let former { try setStoreFact(Self.draws(of: former), try storeFact("seed.draws")) }
        try setStoreFact("seed", seed)
        try setStoreFact("seed.draws", try storeFact(Self.draws(of: seed)))
        try setStoreFact(Self.draws(of: seed), nil)
    }

    /// Where the number of draws from a seed is kept that is not the store's at present.
    private static func draws(of seed: String) -> String { "seed.draws \(Hex.encode(Hash.sha256(Array(seed.utf8))))" }
}
