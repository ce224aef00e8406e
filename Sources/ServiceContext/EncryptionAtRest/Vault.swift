import Crypto
import Platform

/// Seals what must not be readable in the database: AES-256-GCM under a key of its own for every sealed value, derived by
/// HKDF-SHA-256 from the store's data key and a fresh salt.
public struct Vault: Sendable {
    private let dataKey: SecretBytes
    private let random: any RandomSource

    package static let saltCount = 32
    static let version: UInt8 = 1

    public init(dataKey: SecretBytes, random: any RandomSource) {
        self.dataKey = dataKey
        self.random = random
    }

    /// A key derived from the data key for one purpose alone.
    public func subkey(_ purpose: String) -> SecretBytes {
        HKDF.sha256(secret: dataKey, salt: [], info: "mintmark subkey \(purpose)", count: 32)
    }

    /// Seals `secret` as version ‖ salt ‖ ciphertext ‖ tag.
    ///
    /// - Parameter name: what it is (table and row); it can be opened only under the same name, so that nothing sealed can
    ///   be moved to another place.
    package func seal(_ secret: SecretBytes, as name: String) -> [UInt8] {
        Self.seal(secret.copy(), with: dataKey, as: name, salt: random.bytes(Self.saltCount))
    }

    /// Opens what `seal` made.
    ///
    /// - Throws: `SealBroken` if it was altered, moved or sealed under another data key.
    package func open(_ sealed: [UInt8], as name: String) throws -> SecretBytes { try Self.open(sealed, with: dataKey, as: name) }

    /// The data key itself, sealed under a master key.
    func dataKey(under master: MasterKey, as name: String, salt: [UInt8]) -> [UInt8] {
        Self.seal(dataKey.copy(), with: master.bytes, as: name, salt: salt)
    }

    package static func seal(_ plain: [UInt8], with key: SecretBytes, as name: String, salt: [UInt8]) -> [UInt8] {
        let once = HKDF.sha256(secret: key, salt: salt, info: "mintmark seal \(name)", count: 32)
        // The key is used for this one message, so a fixed nonce cannot repeat under it.
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
    /// The bytes as they are, for what must be written down. Nobody wipes the copy.
    package func copy() -> [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

/// A sealed value that does not open: altered, moved, or sealed under another key.
public struct SealBroken: Error, Sendable {
    public let name: String

    package init(name: String) {
        self.name = name
    }
}
