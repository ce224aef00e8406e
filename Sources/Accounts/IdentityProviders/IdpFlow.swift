import Crypto
import JSON
import Platform
import ServiceContext

/// A person's way to a provider and back, or to another device, as the store remembers it. Nothing that is secret on the way is kept:
/// state, nonce and code verifier are derived from the flow's id.
struct IdpFlow: Sendable {
    enum Stage: String, Sendable {
        /// The person has not come back, or what they brought was not taken yet.
        case open
        /// Somebody is redeeming the code.
        case redeeming
        /// The provider's tokens are here, and serve once.
        case redeemed
        /// It has served, or failed.
        case used
    }

    /// How a person signs in.
    enum Kind: String, Sendable {
        case code
        case idToken
        case device
    }

    static let lifetimeSeconds: Int64 = 600

    let id: String
    let tenantId: String
    let providerId: String
    let kind: Kind
    /// Whose account it is for; nil for anybody's.
    let accountId: String?
    /// Who takes the person back; empty for another device.
    let redirectUri: String
    /// Whether this process takes them back.
    let isHeard: Bool
    /// Where the provider answers for tokens. It stays what it was when the person was sent away, so that no other one gets the code.
    let tokenEndpoint: String?
    /// Where it tells more of the person than their ID token does; the same holds for it.
    var userinfoEndpoint: String?
    /// Whether the provider names itself when it sends somebody back (RFC 9207).
    let namesIssuer: Bool
    /// What was asked for: what was granted, if the provider does not say (RFC 6749 5.1).
    var scope = ""
    /// Between two questions to the provider about another device, in seconds.
    var intervalSeconds: Int64 = 5
    var stage = Stage.open
    /// Sealed: a device code, what came back over the loopback address, or what the provider answered.
    var sealed: [UInt8]?
    let expiresAt: Int64
}

/// What is derived of a flow's id.
struct IdpFlowSecrets: Sendable {
    private static let sealName = "idp flow"
    private let vault: Vault
    private let key: SecretBytes

    /// - Parameter seeded: the key of a testing store with a seed.
    init(_ vault: Vault, seeded: SecretBytes? = nil) {
        self.vault = vault
        key = seeded ?? vault.subkey("idp flow")
    }

    init(_ surroundings: AccountsContext) { self.init(surroundings.vault, seeded: surroundings.seededKey("idp flow")) }

    /// Comes back with the person, and shows that the answer is to this flow (RFC 6749 10.12).
    func state(of id: String) -> String { derived("state", id) }
    /// Stands in the ID token that is made for this flow.
    func nonce(of id: String) -> String { derived("nonce", id) }
    /// RFC 7636: 43 characters.
    func verifier(of id: String) -> String { derived("verifier", id) }
    /// S256 of the verifier.
    func challenge(of id: String) -> String { Base64URL.encode(Hash.sha256(Array(verifier(of: id).utf8))) }
    /// A part of a path that nobody can guess.
    func path(of id: String) -> String { derived("path", id) }

    func seal(_ text: String, of id: String) -> [UInt8] { vault.seal(SecretBytes(Array(text.utf8)), as: "\(Self.sealName) \(id)") }

    /// - Throws: `SealBroken`.
    func open(_ sealed: [UInt8], of id: String) throws -> String {
        String(decoding: try vault.open(sealed, as: "\(Self.sealName) \(id)").copy(), as: UTF8.self)
    }

    private func derived(_ use: String, _ id: String) -> String { Base64URL.encode(HMAC.sha256(key: key, Array("\(use) \(id)".utf8))) }
}
