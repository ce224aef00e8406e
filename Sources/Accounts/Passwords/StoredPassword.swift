import Contract
import Crypto
import JSON
import Platform

/// A password hash with its algorithm and parameters.
package struct HashedPassword: Sendable, Equatable {
    package let how: PasswordHash
    package let salt: [UInt8]
    package let hash: [UInt8]

    package init(how: PasswordHash, salt: [UInt8], hash: [UInt8]) {
        self.how = how
        self.salt = salt
        self.hash = hash
    }

    /// Returns whether the hash has the parameters of this store: scrypt at `cost`, a salt of 16 bytes and a hash of 32 bytes.
    func isOwn(at cost: Int) -> Bool {
        how == .own(cost: cost) && salt.count == OwnPassword.saltCount && hash.count == OwnPassword.hashCount
    }
}

extension PasswordHash {
    /// The algorithm and parameters of this store.
    static func own(cost: Int) -> PasswordHash { .scrypt(memoryCost: cost.trailingZeroBitCount, blockSize: 8, parallelization: 1) }
}

/// The stored form of a password.
enum StoredPassword: Sendable {
    /// A hash created by this store.
    case own(OwnPassword)
    /// An imported hash. It is upgraded at the next sign-in with the password.
    case foreign(HashedPassword)
    /// The account has a password whose hash is unknown. A password reset replaces it.
    case unknown

    /// Decodes the stored bytes. Corrupt bytes match no password.
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

    /// The hash; `nil` if it is unknown.
    var hashed: HashedPassword? {
        switch self {
        case .own(let own): HashedPassword(how: .own(cost: own.cost), salt: own.salt, hash: own.hash)
        case .foreign(let foreign): foreign
        case .unknown: nil
        }
    }

    /// Returns the mark by which an upgraded hash refers to the imported hash that it replaced.
    static func mark(of bytes: [UInt8]) -> [UInt8] { Array(Hash.sha256(bytes).prefix(OwnPassword.markCount)) }
}

/// The salt, hash and cost of a password, stored as version ‖ log2 N ‖ salt ‖ hash. Version 3 appends the mark of the replaced hash.
struct OwnPassword: Sendable {
    static let (saltCount, hashCount, markCount) = (16, 32, 16)

    let cost: Int
    let salt: [UInt8]
    let hash: [UInt8]
    /// The mark of the imported hash of the same password that this hash replaced.
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
    /// The hash as JSON, with the same members as `PortableAccount`. Decoding applies the same validation as an import.
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
