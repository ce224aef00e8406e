import Crypto
import JSON

/// What came of looking at all that an issuer publishes.
public struct IssuerInspection: Sendable {
    /// Its discovery document (OpenID Connect Discovery 4.2), of the issuer that was asked.
    public internal(set) var description: JSONNode?
    /// Its keys, those that can be used.
    public internal(set) var keys: JWKSet?
    /// Why there is no more than that.
    public internal(set) var failure: IssuerFailure?

    public init(description: JSONNode? = nil, keys: JWKSet? = nil, failure: IssuerFailure? = nil) {
        self.description = description
        self.keys = keys
        self.failure = failure
    }
}
