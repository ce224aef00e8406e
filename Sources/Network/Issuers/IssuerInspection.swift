import Crypto
import JSON

/// The result of fetching all documents of an issuer.
public struct IssuerInspection: Sendable {
    /// The discovery document (OpenID Connect Discovery 1.0 section 4.2). Its issuer is the requested one.
    public internal(set) var description: JSONNode?
    /// The usable keys.
    public internal(set) var keys: JWKSet?
    /// The failure that ended the inspection, if there was one.
    public internal(set) var failure: IssuerFailure?

    public init(description: JSONNode? = nil, keys: JWKSet? = nil, failure: IssuerFailure? = nil) {
        self.description = description
        self.keys = keys
        self.failure = failure
    }
}
