import Crypto
import JSON
import Platform
import ServiceContext

/// The stored state of an authorization at a provider, by redirect or on another device. It contains no secrets of the request: state,
/// nonce and code verifier are derived from the ID of the flow.
struct IdpFlow: Sendable {
    enum Stage: String, Sendable {
        /// The user has not returned yet, or the response was not processed yet.
        case open
        /// A call is exchanging the code.
        case redeeming
        /// The provider's tokens are stored. They are single-use.
        case redeemed
        /// The flow has succeeded or failed.
        case used
    }

    /// The kind of authorization.
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
    /// The ID of the account that the flow is for, or `nil` for a sign-in.
    let accountId: String?
    /// The redirect URI; empty for a device authorization.
    let redirectUri: String
    /// Whether this process receives the response.
    let isHeard: Bool
    /// The token endpoint. It keeps the value of the authorization request, so that no other endpoint receives the code.
    let tokenEndpoint: String?
    /// The UserInfo endpoint. It also keeps the value of the authorization request.
    var userinfoEndpoint: String?
    /// Whether authorization responses contain `iss` (RFC 9207).
    let namesIssuer: Bool
    /// The requested scopes. They are the granted scopes if the provider returns none (RFC 6749 §5.1).
    var scope = ""
    /// The interval between two polls of a device authorization, in seconds.
    var intervalSeconds: Int64 = 5
    var stage = Stage.open
    /// The encrypted device code, authorization response or token response.
    var sealed: [UInt8]?
    let expiresAt: Int64
    /// The application in which the user signs in; `nil` if none was named.
    var application: ApplicationName?
}

/// The secrets that are derived from the ID of a flow.
struct IdpFlowSecrets: Sendable {
    private static let sealName = "idp flow"
    private let vault: Vault
    private let key: SecretBytes

    /// - Parameter seeded: The key of a testing store with a seed.
    init(_ vault: Vault, seeded: SecretBytes? = nil) {
        self.vault = vault
        key = seeded ?? vault.subkey("idp flow")
    }

    /// The `state` parameter, which binds the authorization response to this flow (RFC 6749 §10.12).
    func state(of id: String) -> String { derived("state", id) }
    /// The nonce of the ID token that is issued for this flow.
    func nonce(of id: String) -> String { derived("nonce", id) }
    /// The PKCE code verifier, 43 characters (RFC 7636 §4.1).
    func verifier(of id: String) -> String { derived("verifier", id) }
    /// The S256 code challenge of the verifier.
    func challenge(of id: String) -> String { Base64URL.encode(Hash.sha256(Array(verifier(of: id).utf8))) }
    /// An unguessable path component.
    func path(of id: String) -> String { derived("path", id) }

    func seal(_ text: String, of id: String) -> [UInt8] { vault.seal(SecretBytes(Array(text.utf8)), as: "\(Self.sealName) \(id)") }

    /// - Throws: `SealBroken`.
    func open(_ sealed: [UInt8], of id: String) throws -> String {
        String(decoding: try vault.open(sealed, as: "\(Self.sealName) \(id)").copy(), as: UTF8.self)
    }

    private func derived(_ use: String, _ id: String) -> String { Base64URL.encode(HMAC.sha256(key: key, Array("\(use) \(id)".utf8))) }
}
