import Contract
import Crypto
import Platform
import ServiceContext

/// A password hashing algorithm and its parameters.
package enum PasswordHash: Sendable, Equatable {
    case scrypt(memoryCost: Int, blockSize: Int, parallelization: Int)
    case firebaseScrypt(signerKey: [UInt8], saltSeparator: [UInt8], memoryCost: Int, rounds: Int)
    case pbkdf2(PBKDF2.Digest, iterations: Int)
    /// A single pass of a hash function, see `FastHash`.
    case fast(FastHash)
    /// The hash is a text that contains its own parameters: `$2b$…`.
    case bcrypt
    /// The same: `$argon2id$…`.
    case argon2id

    /// The maximum work factor of scrypt, N × r × p: that of this store's own hashes. It requires 128 MiB.
    static let mostWork = PasswordHasher.cost * 8

    /// - Throws: `InvalidHashParameters` if a parameter is missing, belongs to another algorithm or exceeds the limit.
    package init(_ how: PasswordHashing) throws(InvalidHashParameters) {
        if !FastHash.algorithms.contains(how.algorithm) { try Self.refuse(how, members: ["saltAfterPassword"]) }
        switch how.algorithm {
        case .scrypt:
            try Self.refuse(how, members: ["signerKey", "saltSeparator", "rounds"])
            let (cost, size, lanes) = (Int(how.memoryCost ?? 14), Int(how.blockSize ?? 8), Int(how.parallelization ?? 1))
            try Self.bound((1 << cost) * size * lanes)
            self = .scrypt(memoryCost: cost, blockSize: size, parallelization: lanes)
        case .firebaseScrypt:
            try Self.refuse(how, members: ["blockSize", "parallelization"])
            guard let text = how.signerKey, let key = Base64.decode(text), !key.isEmpty else {
                throw InvalidHashParameters(
                    pointer: "/signerKey",
                    reason: "firebaseScrypt requires signerKey, the base64_signer_key of the project's hash parameters")
            }
            guard let separator = Base64.decode(how.saltSeparator ?? "") else {
                throw InvalidHashParameters(pointer: "/saltSeparator", reason: "saltSeparator is not valid base64")
            }
            let (cost, rounds) = (Int(how.memoryCost ?? 14), Int(how.rounds ?? 8))
            if rounds > 16 { throw InvalidHashParameters(pointer: "/rounds", reason: "the rounds of firebaseScrypt are at most 16") }
            try Self.bound((1 << cost) * rounds)
            self = .firebaseScrypt(signerKey: key, saltSeparator: separator, memoryCost: cost, rounds: rounds)
        case .pbkdf2Sha1: self = try .pbkdf2(.sha1, iterations: Self.iterations(how))
        case .pbkdf2Sha256: self = try .pbkdf2(.sha256, iterations: Self.iterations(how))
        case .pbkdf2Sha512: self = try .pbkdf2(.sha512, iterations: Self.iterations(how))
        case .hmacMd5, .hmacSha1, .hmacSha256, .hmacSha512, .md5, .sha1, .sha256, .sha512:
            try Self.refuse(how, members: ["saltSeparator", "memoryCost", "blockSize", "parallelization"])
            self = .fast(try FastHash(how))
        case .bcrypt, .argon2id:
            try Self.refuse(how, members: ["signerKey", "saltSeparator", "memoryCost", "rounds", "blockSize", "parallelization"])
            self = how.algorithm == .bcrypt ? .bcrypt : .argon2id
        }
    }

    /// Returns the algorithm of hashes to import.
    ///
    /// - Throws: `InvalidHashParameters` also if this machine does not have the algorithm.
    package static func imported(_ how: PasswordHashing) throws(InvalidHashParameters) -> PasswordHash {
        let hash = try PasswordHash(how)
        if hash == .bcrypt, !BCrypt.isAvailable {
            throw InvalidHashParameters(
                pointer: "/algorithm", reason: "bcrypt needs libcrypt.so.1, which this machine does not have. On Debian, install libcrypt1")
        }
        if hash == .argon2id, !Argon2id.isAvailable {
            throw InvalidHashParameters(
                pointer: "/algorithm", reason: "argon2id needs OpenSSL 3.2 or later, and this machine has an earlier version")
        }
        return hash
    }

    /// Returns the salt of a hash that contains its own parameters; `nil` for other algorithms.
    ///
    /// - Throws: `InvalidHashParameters` if it is not such a hash, or too expensive.
    package func setting(of hash: [UInt8]) throws(InvalidHashParameters) -> [UInt8]? {
        switch self {
        case .bcrypt:
            guard let cost = BCrypt.cost(of: hash) else {
                throw InvalidHashParameters(
                    pointer: "/passwordHash", reason: "a hash of bcrypt is a text of 60 characters that begins with $2a$, $2b$ or $2y$")
            }
            guard (4...15).contains(cost) else {
                throw InvalidHashParameters(pointer: "/passwordHash", reason: "the cost is \(cost); allowed are 4 to 15")
            }
            return Array(hash.prefix(BCrypt.settingCount))
        case .argon2id:
            guard let parameters = Argon2id.Parameters(hash) else {
                throw InvalidHashParameters(
                    pointer: "/passwordHash", reason: "a hash of argon2id is a text such as $argon2id$v=19$m=65536,t=3,p=4$SALT$HASH")
            }
            guard parameters.memory <= 1 << 18, UInt64(parameters.memory) * UInt64(parameters.passes) <= 1 << 20 else {
                throw InvalidHashParameters(
                    pointer: "/passwordHash", reason: "m is at most 262144 KiB, and m times t at most 1048576")
            }
            return parameters.setting
        default: return nil
        }
    }

    private static func iterations(_ how: PasswordHashing) throws(InvalidHashParameters) -> Int {
        try refuse(how, members: ["signerKey", "saltSeparator", "memoryCost", "blockSize", "parallelization"])
        guard let rounds = how.rounds else {
            throw InvalidHashParameters(pointer: "/rounds", reason: "PBKDF2 requires rounds, the number of iterations")
        }
        return Int(rounds)
    }

    private static func bound(_ work: Int) throws(InvalidHashParameters) {
        guard work > mostWork else { return }
        throw InvalidHashParameters(
            pointer: "/memoryCost", reason: "N times r times p is \(work); the maximum is \(mostWork)")
    }

    /// Rejects parameters that the algorithm does not use, because they were meant for another algorithm.
    static func refuse(_ how: PasswordHashing, members: [String]) throws(InvalidHashParameters) {
        let given: [String: Bool] = [
            "signerKey": how.signerKey != nil, "saltSeparator": how.saltSeparator != nil, "memoryCost": how.memoryCost != nil,
            "rounds": how.rounds != nil, "blockSize": how.blockSize != nil, "parallelization": how.parallelization != nil,
            "saltAfterPassword": how.saltAfterPassword != nil,
        ]
        guard let name = members.first(where: { given[$0] == true }) else { return }
        throw InvalidHashParameters(pointer: "/\(name)", reason: "\(how.algorithm.rawValue) has no \(name)")
    }

    /// The parameters as the API represents them.
    package var described: PasswordHashing {
        switch self {
        case .scrypt(let cost, let size, let lanes):
            PasswordHashing(algorithm: .scrypt, memoryCost: Int64(cost), blockSize: Int64(size), parallelization: Int64(lanes))
        case .firebaseScrypt(let key, let separator, let cost, let rounds):
            PasswordHashing(
                algorithm: .firebaseScrypt, signerKey: Base64.encode(key), saltSeparator: Base64.encode(separator),
                memoryCost: Int64(cost), rounds: Int64(rounds))
        case .pbkdf2(let digest, let iterations):
            PasswordHashing(
                algorithm: digest == .sha1 ? .pbkdf2Sha1 : digest == .sha256 ? .pbkdf2Sha256 : .pbkdf2Sha512, rounds: Int64(iterations))
        case .fast(let fast): fast.described
        case .bcrypt: PasswordHashing(algorithm: .bcrypt)
        case .argon2id: PasswordHashing(algorithm: .argon2id)
        }
    }

    /// Returns the hash of a password in the normalization form NFC, the only change of a password. This is slow by design.
    ///
    /// - Parameter count: The length of the hash, in bytes. Firebase scrypt ignores it.
    func hash(_ password: String, salt: [UInt8], count: Int) throws -> [UInt8] {
        let password = SecretBytes(Array(password.nfc.utf8))
        switch self {
        case .scrypt(let cost, let size, let lanes):
            return try Scrypt.derive(password: password, salt: salt, .init(n: 1 << cost, r: size, p: lanes), count: count).copy()
        case .firebaseScrypt(let key, let separator, let cost, let rounds):
            return try FirebaseScrypt.hash(
                password: password, salt: salt + separator, signerKey: SecretBytes(key), memoryCost: cost, rounds: rounds)
        case .pbkdf2(let digest, let iterations):
            return try PBKDF2.derive(digest, password: password, salt: salt, iterations: iterations, count: count).copy()
        case .fast(let fast): return fast.hash(password, salt: salt)
        case .bcrypt: return try BCrypt.hash(password, setting: salt)
        case .argon2id:
            // The parameters precede the digest, whose length is needed too.
            let digestCount = (count - salt.count) * 3 / 4
            let whole = salt + Array(Base64.encode([UInt8](repeating: 0, count: digestCount)).prefix { $0 != "=" }.utf8)
            return try Argon2id.Parameters(whole).map { try Argon2id.hash(password, $0) } ?? []
        }
    }
}
