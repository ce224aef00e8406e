import Crypto
import Platform

/// Encrypts values that must not be readable in the database: AES-256-GCM with a separate key for each value. HKDF-SHA-256 derives the key
/// from the store's data key and a random salt.
public struct Vault: Sendable {
    private let dataKey: SecretBytes
    private let random: any RandomSource
    private let subkeys = Subkeys()

    /// The keys that were derived before. There is one for each purpose in the source code.
    private final class Subkeys: Sendable {
        let known = UnfairLock<[String: SecretBytes]>([:])
    }

    package static let saltCount = 32
    static let version: UInt8 = 1

    public init(dataKey: SecretBytes, random: any RandomSource) {
        self.dataKey = dataKey
        self.random = random
    }

    /// Returns a key derived from the data key for one purpose, which is a constant.
    public func subkey(_ purpose: String) -> SecretBytes {
        subkeys.known.withLock { known in
            if let key = known[purpose] { return key }
            let key = HKDF.sha256(secret: dataKey, salt: [], info: "mintmark subkey \(purpose)", count: 32)
            known[purpose] = key
            return key
        }
    }

    /// Encrypts `secret` as version ‖ salt ‖ ciphertext ‖ tag.
    ///
    /// - Parameter name: The purpose (table and row). Decryption requires the same name, so that an encrypted value cannot be moved to
    ///   another row.
    package func seal(_ secret: SecretBytes, as name: String) -> [UInt8] {
        Self.seal(secret.copy(), with: dataKey, as: name, salt: random.bytes(Self.saltCount))
    }

    /// Decrypts a value that `seal` has encrypted.
    ///
    /// - Throws: `SealBroken` if the value was altered, moved or encrypted with another data key.
    package func open(_ sealed: [UInt8], as name: String) throws -> SecretBytes { try Self.open(sealed, with: dataKey, as: name) }

    /// Returns the data key itself, encrypted with a master key.
    func dataKey(under master: MasterKey, as name: String, salt: [UInt8]) -> [UInt8] {
        Self.seal(dataKey.copy(), with: master.bytes, as: name, salt: salt)
    }

    package static func seal(_ plain: [UInt8], with key: SecretBytes, as name: String, salt: [UInt8]) -> [UInt8] {
        let once = HKDF.sha256(secret: key, salt: salt, info: "mintmark seal \(name)", count: 32)
        // Each key encrypts one message only, so a fixed nonce is safe.
        let sealed = AESGCM.seal(plain, key: once, nonce: [UInt8](repeating: 0, count: 12), authenticating: [version])
        return [version] + salt + sealed
    }

    package static func open(_ sealed: [UInt8], with key: SecretBytes, as name: String) throws -> SecretBytes {
        guard sealed.count > 1 + saltCount + 16, sealed[0] == version else { throw SealBroken(name: name) }
        let once = HKDF.sha256(secret: key, salt: Array(sealed[1..<1 + saltCount]), info: "mintmark seal \(name)", count: 32)
        do {
            let plain = try AESGCM.open(
                Array(sealed[(1 + saltCount)...]), key: once, nonce: [UInt8](repeating: 0, count: 12), authenticating: [version])
            return SecretBytes(plain)
        } catch { throw SealBroken(name: name) }
    }
}

extension SecretBytes {
    /// Returns a copy of the bytes, for writing. The copy is not wiped from memory.
    package func copy() -> [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

/// An encrypted value that cannot be decrypted because it was altered, moved or encrypted with another key.
public struct SealBroken: Error, Sendable {
    public let name: String

    package init(name: String) {
        self.name = name
    }
}
