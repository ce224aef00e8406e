import Contract
import Crypto
import Platform

/// A password hash without a cost, which only an import can bring: an HMAC, or repetitions of a hash function. It is replaced at the first
/// sign-in with the password.
package struct FastHash: Sendable, Equatable {
    let algorithm: PasswordAlgorithm
    /// The key of an HMAC.
    let key: [UInt8]
    /// The number of repetitions of a hash function.
    let rounds: Int
    let isSaltLast: Bool

    static let algorithms: Set<PasswordAlgorithm> = [.hmacMd5, .hmacSha1, .hmacSha256, .hmacSha512, .md5, .sha1, .sha256, .sha512]

    /// The maximum number of repetitions.
    static let mostRounds: Int64 = 8192

    /// - Throws: `InvalidHashParameters` if a parameter is missing, belongs to another algorithm or exceeds the limit.
    init(_ how: PasswordHashing) throws(InvalidHashParameters) {
        algorithm = how.algorithm
        isSaltLast = how.saltAfterPassword ?? false
        switch how.algorithm {
        case .hmacMd5, .hmacSha1, .hmacSha256, .hmacSha512:
            try PasswordHash.refuse(how, members: ["rounds"])
            guard let text = how.signerKey, let key = Base64.decode(text), !key.isEmpty else {
                throw InvalidHashParameters(
                    pointer: "/signerKey", reason: "\(how.algorithm.rawValue) requires signerKey, the key of the HMAC in base64")
            }
            self.key = key
            rounds = 1
        default:
            try PasswordHash.refuse(how, members: ["signerKey"])
            guard (how.rounds ?? 1) <= Self.mostRounds else {
                throw InvalidHashParameters(
                    pointer: "/rounds", reason: "the rounds of \(how.algorithm.rawValue) are at most \(Self.mostRounds)")
            }
            key = []
            rounds = Int(how.rounds ?? 1)
        }
    }

    /// The parameters as the API represents them.
    var described: PasswordHashing {
        var how = PasswordHashing(algorithm: algorithm)
        if key.isEmpty { how.rounds = Int64(rounds) } else { how.signerKey = Base64.encode(key) }
        if isSaltLast { how.saltAfterPassword = true }
        return how
    }

    func hash(_ password: SecretBytes, salt: [UInt8]) -> [UInt8] {
        let password = password.copy()
        let input = isSaltLast ? password + salt : salt + password
        switch algorithm {
        case .hmacMd5: return HMAC.md5(key: SecretBytes(key), input)
        case .hmacSha1: return HMAC.sha1(key: SecretBytes(key), input)
        case .hmacSha512: return HMAC.sha512(key: SecretBytes(key), input)
        case .hmacSha256: return HMAC.sha256(key: SecretBytes(key), input)
        default: return (1..<rounds).reduce(digest(input)) { hash, _ in digest(hash) }
        }
    }

    private func digest(_ bytes: [UInt8]) -> [UInt8] {
        switch algorithm {
        case .md5: Hash.md5(bytes)
        case .sha1: Hash.sha1(bytes)
        case .sha512: Hash.sha512(bytes)
        default: Hash.sha256(bytes)
        }
    }
}
