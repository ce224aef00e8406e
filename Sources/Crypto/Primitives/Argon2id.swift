import COpenSSL
import Platform

/// Argon2id (RFC 9106), which OpenSSL offers from version 3.2.
public enum Argon2id {
    /// OpenSSL has no Argon2id.
    public struct Unavailable: Error, Hashable, Sendable {}

    /// The parameters in a hash such as `$argon2id$v=19$m=65536,t=3,p=4$SALT$HASH` (PHC string format).
    public struct Parameters: Hashable, Sendable {
        /// The memory, in KiB.
        public let memory: UInt32
        public let passes: UInt32
        public let lanes: UInt32
        let salt: [UInt8]
        let digestCount: Int
        /// The part of the hash before its digest.
        public let setting: [UInt8]

        /// Returns `nil` if the text is not a hash of version 19, or its parameters are outside the range of RFC 9106.
        public init?(_ hash: [UInt8]) {
            let text = String(decoding: hash, as: UTF8.self)
            let parts = text.split(separator: "$", omittingEmptySubsequences: false)
            guard parts.count == 6, parts[0].isEmpty, parts[1] == "argon2id", parts[2] == "v=19",
                let salt = Base64.decode(String(parts[4])),
                let digest = Base64.decode(String(parts[5])), (8...64).contains(salt.count), (16...64).contains(digest.count)
            else { return nil }
            var values: [Substring: UInt32] = [:]
            for pair in parts[3].split(separator: ",", omittingEmptySubsequences: false) {
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard sides.count == 2, values[sides[0]] == nil, let value = UInt32(sides[1]) else { return nil }
                values[sides[0]] = value
            }
            guard values.count == 3, let memory = values["m"], let passes = values["t"], let lanes = values["p"], passes > 0,
                (1...16).contains(lanes), memory >= 8 * lanes
            else { return nil }
            (self.memory, self.passes, self.lanes, self.salt, digestCount) = (memory, passes, lanes, salt, digest.count)
            setting = Array(parts[..<5].joined(separator: "$").utf8) + [0x24]
        }
    }

    private static func fetch() -> OpaquePointer? {
        defer { ERR_clear_error() }
        return EVP_KDF_fetch(nil, "ARGON2ID", nil)
    }

    public static let isAvailable: Bool = {
        guard let found = fetch() else { return false }
        EVP_KDF_free(found)
        return true
    }()

    /// Returns the hash of a password in the PHC string format.
    ///
    /// - Throws: `Unavailable`.
    public static func hash(_ password: SecretBytes, _ given: Parameters) throws(Unavailable) -> [UInt8] {
        guard let algorithm = fetch() else { throw Unavailable() }
        defer { EVP_KDF_free(algorithm) }
        guard let context = EVP_KDF_CTX_new(algorithm) else { cannotContinue("allocate an Argon2id") }
        defer { EVP_KDF_CTX_free(context) }
        var parameters = ParameterList()
        parameters.octets("pass", password)
        parameters.octets("salt", given.salt)
        for (name, value) in [("iter", given.passes), ("lanes", given.lanes), ("memcost", given.memory)] as [(StaticString, UInt32)] {
            withUnsafeBytes(of: value.bigEndian) { parameters.number(name, $0) }
        }
        var digest = [UInt8](repeating: 0, count: given.digestCount)
        guard parameters.withParameters({ EVP_KDF_derive(context, &digest, digest.count, $0) }) == 1 else {
            ERR_clear_error()
            return []
        }
        return given.setting + Array(Base64.encode(digest).prefix { $0 != "=" }.utf8)
    }
}
