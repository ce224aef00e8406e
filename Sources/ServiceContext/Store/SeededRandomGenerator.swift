import Crypto
import Platform
import Storage

/// The randomness of a testing store. Without a seed, it is the system's. With a seed, all bytes are derived from the seed and a counter in
/// the store. No two processes on the store draw the same bytes. Another store with the same seed and the same sequence of calls draws the
/// same bytes.
///
/// Must not be used inside a transaction.
public struct SeededRandomGenerator: RandomSource {
    private let database: any Database
    private let system: any RandomSource

    /// - Parameter system: The source that is used without a seed, or if the seed cannot be read twice.
    public init(_ database: any Database, otherwise system: any RandomSource) {
        self.database = database
        self.system = system
    }

    public func bytes(_ count: Int) -> [UInt8] { draw(count).bytes }

    public func draw(_ count: Int) -> RandomDraw {
        guard let turn = turn() else { return system.draw(count) }
        return RandomDraw(bytes: Self.bytes(count, of: turn.seed, draw: turn.number), number: turn.number)
    }

    /// Takes the next number of the store's seed, or returns `nil` without a seed. A second attempt follows a failure, because a disk that
    /// fails once must not make the values of a test irreproducible.
    private func turn() -> (seed: String, number: Int64)? {
        do { return try database.nextDraw() } catch { return (try? database.nextDraw()) ?? nil }
    }

    /// Returns the bytes of one draw, at most 8160.
    package static func bytes(_ count: Int, of seed: String, draw number: Int64) -> [UInt8] {
        bytes(count, of: seed, for: "draw \(number)")
    }

    /// Returns the bytes for one purpose, which are always the same.
    static func bytes(_ count: Int, of seed: String, for purpose: String) -> [UInt8] {
        HKDF.sha256(secret: SecretBytes(Array(seed.utf8)), salt: [], info: "mintmark \(purpose)", count: count).copy()
    }
}

extension Database {
    /// Takes the next number of the store's seed, or returns `nil` without a seed.
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

extension Transaction {
    package func seed() throws -> String? { try storeFact("seed") }

    /// Sets the seed for all further draws. If the store has used this seed before, its counter continues, because keys and IDs from
    /// earlier draws may exist.
    package func setSeed(_ seed: String) throws {
        let former = try self.seed()
        if former == seed { return }
        if let former { try setStoreFact(Self.draws(of: former), try storeFact("seed.draws")) }
        try setStoreFact("seed", seed)
        try setStoreFact("seed.draws", try storeFact(Self.draws(of: seed)))
        try setStoreFact(Self.draws(of: seed), nil)
    }

    /// The name of the store fact with the counter of a former seed.
    private static func draws(of seed: String) -> String { "seed.draws \(Hex.encode(Hash.sha256(Array(seed.utf8))))" }
}
