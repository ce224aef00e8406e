import Contract
import Crypto
import JSON
import Network

/// Login providers as they are reached over the network.
public protocol ForeignProviders: Sendable {
    /// Whether providers on this machine may be asked by plain http without a word of their own about it, as in tests.
    var allowsPlainLoopback: Bool { get }

    /// The key that a token's header asks for, nil if the issuer has none such.
    ///
    /// - Throws: `ProviderUnavailable`, `ProviderUnusable`; what moves the call to where it may wait for other machines.
    func key(
        for header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext
    ) throws -> PublicKey?

    /// The JSON object that a provider answers, with the HTTP status.
    ///
    /// - Throws: as `key`.
    func object(_ question: ProviderQuestion, of provider: ProviderAddress, _ call: any CallContext) throws -> (
        status: Int, object: JSONNode
    )

    /// The discovery document of an issuer, which is that issuer's. It is kept as the keys are.
    ///
    /// - Throws: as `key`.
    func description(of issuer: String, _ provider: ProviderAddress, _ call: any CallContext) throws -> JSONNode

    /// Drops the document of an issuer, so that the next call fetches it again.
    func forgetDescription(of issuer: String, _ provider: ProviderAddress)

    /// Looks at everything that an issuer publishes, anew.
    ///
    /// - Throws: what moves the call to where it may wait for other machines; a failure of the issuer stands in the answer.
    func inspect(issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> IssuerInspection
}

/// What a provider is asked.
public struct ProviderQuestion: Sendable {
    public let url: String
    public let headers: [(name: String, value: String)]
    /// What is posted; nil for a GET.
    public let body: [UInt8]?
    public let contentType: String
    /// The issuer whose document names the URL; nil for one that is known or that an administrator typed.
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

/// How a provider may be reached.
public struct ProviderAddress: Sendable, Hashable {
    /// The name of its logins.
    public let name: String
    public let allowsInsecure: Bool
    public let allowsPrivateNetwork: Bool

    package init(name: String, allowsInsecure: Bool, allowsPrivateNetwork: Bool) {
        self.name = name
        self.allowsInsecure = allowsInsecure
        self.allowsPrivateNetwork = allowsPrivateNetwork
    }
}

/// No network: only providers whose keys stand in the pool prove anything.
public struct NoForeignProviders: ForeignProviders {
    public init() {}

    public var allowsPlainLoopback: Bool { false }

    public func key(for header: JWSHeader, issuer: String, of provider: ProviderAddress, _ call: any CallContext) throws -> PublicKey? {
        throw ProviderUnavailable(
            provider: provider.name, reason: "this process sends no requests to providers. Configure the keys in the pool.")
    }

    public func object(_ question: ProviderQuestion, of provider: ProviderAddress, _ call: any CallContext) throws -> (
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
