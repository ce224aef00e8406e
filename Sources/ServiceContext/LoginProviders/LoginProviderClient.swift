import Contract
import Crypto
import JSON
import Network

/// Sends requests to login providers over the network.
public protocol LoginProviderClient: Sendable {
    /// Whether providers on this machine can be reached by plain HTTP without `allowInsecure`, as in tests.
    var allowsPlainLoopback: Bool { get }

    /// Returns the key that a token's header names, or `nil` if the issuer has no such key.
    ///
    /// Waits on this thread for the request of this call or of another one.
    ///
    /// - Throws: `ProviderUnavailable`, `ProviderUnusable`, `Cancelled`.
    func key(
        for header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext
    ) throws -> PublicKey?

    /// Returns the key as `key` does if it is known or if the thread of the call may wait; otherwise what to wait for.
    ///
    /// - Throws: The errors of `key`.
    func lookUp(
        _ header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext
    ) throws -> KeyLookup

    /// Returns the JSON object of a provider's response, with the HTTP status.
    ///
    /// - Throws: The errors of `key`.
    func object(_ question: LoginProviderRequest, of provider: ProviderAddress, _ call: any CallContext) throws -> (
        status: Int, object: JSONNode
    )

    /// Returns the discovery document of an issuer, after checking that it names this issuer. It is cached like the keys.
    ///
    /// - Throws: The errors of `key`.
    func description(of issuer: String, _ provider: ProviderAddress, _ call: any CallContext) throws -> JSONNode

    /// Removes the document of an issuer from the cache, so that the next call fetches it again.
    func forgetDescription(of issuer: String, _ provider: ProviderAddress)

    /// Fetches and inspects the documents of an issuer, without the cache.
    ///
    /// - Throws: `Cancelled`. Failures of the issuer are part of the result.
    func inspect(issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> IssuerInspection
}

/// The outcome of a search for an issuer's key.
public enum KeyLookup: Sendable {
    /// The key, or `nil` if the issuer has no such key.
    case known(PublicKey?)
    /// The key is known after this wait, or can be fetched then.
    case waits(Wait)
}

extension LoginProviderClient {
    public func lookUp(
        _ header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext
    ) throws -> KeyLookup {
        .known(try key(for: header, issuer: issuer, of: provider, call))
    }
}

/// A request to a provider.
public struct LoginProviderRequest: Sendable {
    public let url: String
    public let headers: [(name: String, value: String)]
    /// The body of a POST request; `nil` for a GET request.
    public let body: [UInt8]?
    public let contentType: String
    /// The issuer whose document contains the URL; `nil` if the URL is built in or configured by an administrator.
    public let issuer: String?

    package init(
        _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil, contentType: String = "application/json",
        namedBy issuer: String? = nil
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.contentType = contentType
        self.issuer = issuer
    }
}

/// The network settings for requests to a provider.
public struct ProviderAddress: Sendable, Hashable {
    /// The name of the provider's logins.
    public let name: String
    public let allowsInsecure: Bool
    public let allowsPrivateNetwork: Bool
    /// The configured URL of the key set; `nil` if the discovery document contains it.
    public let keySetURL: String?

    package init(name: String, allowsInsecure: Bool, allowsPrivateNetwork: Bool, keySetURL: String? = nil) {
        self.keySetURL = keySetURL
        self.name = name
        self.allowsInsecure = allowsInsecure
        self.allowsPrivateNetwork = allowsPrivateNetwork
    }
}

/// Sends no requests: only providers whose keys are configured in the pool can be verified.
public struct NoLoginProviderClient: LoginProviderClient {
    public init() {}

    public var allowsPlainLoopback: Bool { false }

    public func key(for header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> PublicKey? {
        throw ProviderUnavailable(
            provider: provider.name, reason: "this process sends no requests to providers. Configure the keys in the pool.")
    }

    public func object(_ question: LoginProviderRequest, of provider: ProviderAddress, _ call: any CallContext) throws -> (
        status: Int, object: JSONNode
    ) {
        throw ProviderUnavailable(provider: provider.name, reason: "this process sends no requests to providers.")
    }

    public func description(of issuer: String, _ provider: ProviderAddress, _ call: any CallContext) throws -> JSONNode {
        throw ProviderUnavailable(provider: provider.name, reason: "this process sends no requests to providers.")
    }

    public func forgetDescription(of issuer: String, _ provider: ProviderAddress) {}

    public func inspect(issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> IssuerInspection {
        IssuerInspection(failure: IssuerFailure(.unavailable, "This process sends no requests to providers."))
    }
}
