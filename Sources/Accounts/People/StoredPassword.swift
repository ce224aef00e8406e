import Contract
import Crypto
import JSON
import Platform

/// A password's hash, and how it was made.
package struct HashedPassword: Sendable, Equatable {
    package let how: PasswordHash
    package let salt: [UInt8]
    package let hash: [UInt8]

    package init(how: PasswordHash, salt: [UInt8], hash: [UInt8]) {
        self.how = how
        self.salt = salt
        self.hash = hash
    }

    /// Whether it is one that this store makes: scrypt at `cost`, with a salt of 16 bytes and a hash of 32.
    func isOwn(at cost: Int) -> Bool {
        how == .own(cost: cost) && salt.count == OwnPassword.saltCount && hash.count == OwnPassword.hashCount
    }
}

extension PasswordHash {
    /// How this store hashes passwords.
    static func own(cost: Int) -> PasswordHash { .scrypt(memoryCost: cost.trailingZeroBitCount, blockSize: 8, parallelization: 1) }
}

/// What is kept of a password.
enum StoredPassword: Sendable {
    /// A hash of this store's.
    case own(OwnPassword)
    /// One that somebody else has made and that nobody has signed in with yet.
    case foreign(HashedPassword)
    /// There is a password, and nothing is known of it here: a reset gives another one.
    case unknown

    /// What was kept; damaged bytes fit no password.
    init(bytes: [UInt8]) {
        if bytes == [Self.unknownVersion] {
            self = .unknown
        } else if bytes.first == 2, let foreign = HashedPassword(bytes: bytes.dropFirst()) {
            self = .foreign(foreign)
        } else {
            self = .own(OwnPassword(bytes: bytes))
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .own(let own): own.bytes
        case .foreign(let foreign): [2] + foreign.bytes
        case .unknown: [Self.unknownVersion]
        }
    }

    private static let unknownVersion: UInt8 = 4

    /// nil for one that is unknown.
    var hashed: HashedPassword? {
        switch self {
        case .own(let own): HashedPassword(how: .own(cost: own.cost), salt: own.salt, hash: own.hash)
        case .foreign(let foreign): foreign
        case .unknown: nil
        }
    }

    /// What an own hash remembers of the foreign one that it has replaced.
    static func mark(of bytes: [UInt8]) -> [UInt8] { Array(Hash.sha256(bytes).prefix(OwnPassword.markCount)) }
}

/// Salt and hash of a password, and what it cost: version ‖ log2 N ‖ salt ‖ hash, and in version 3 ‖ the mark of what it replaced.
struct OwnPassword: Sendable {
    static let (saltCount, hashCount, markCount) = (16, 32, 16)

    let cost: Int
    let salt: [UInt8]
    let hash: [UInt8]
    /// Which foreign hash of the same password it has replaced.
    var replaced: [UInt8]?

    init(cost: Int, salt: [UInt8], hash: [UInt8], replaced: [UInt8]? = nil) {
        self.cost = cost
        self.salt = salt
        self.hash = hash
        self.replaced = replaced
    }

    fileprivate init(bytes: [UInt8]) {
        let plain = 2 + Self.saltCount + Self.hashCount
        cost = bytes.count >= plain ? 1 << Int(bytes[1] & 31) : 2
        salt = Array(bytes.dropFirst(2).prefix(Self.saltCount))
        hash = Array(bytes.dropFirst(2 + Self.saltCount).prefix(Self.hashCount))
        replaced = bytes.first == 3 && bytes.count == plain + Self.markCount ? Array(bytes[plain...]) : nil
    }

    fileprivate var bytes: [UInt8] {
        [replaced == nil ? 1 : 3, UInt8(cost.trailingZeroBitCount)] + salt + hash + (replaced ?? [])
    }
}

extension HashedPassword {
    /// The members of an account that say the same (`PortableAccount`), as JSON: it is read as strictly as when it came.
    fileprivate var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("passwordHash")
        writer.string(Base64URL.encode(hash))
        writer.key("salt")
        writer.string(Base64URL.encode(salt))
        writer.key("hash")
        how.described.write(to: &writer)
        writer.endObject()
        return writer.bytes
    }

    fileprivate init?(bytes: ArraySlice<UInt8>) {
        guard let node = try? JSONText(Array(bytes)).root, let written = try? PortableAccount(decoding: node), let how = written.hash,
            let hash = written.passwordHash.flatMap({ Base64.decode($0) }), let salt = Base64.decode(written.salt ?? "")
        else { return nil }
        guard let how = try? PasswordHash(how) else { return nil }
        self.init(how: how, salt: salt, hash: hash)
    }
}
