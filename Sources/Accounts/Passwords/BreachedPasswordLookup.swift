import Contract
import Network

/// Looks up passwords in lists of leaked passwords.
public protocol BreachedPasswordLookup: Sendable {
    /// Queries the breached password service of a tenant. An unreachable service is an outcome, not an error.
    func look(up password: String, by check: BreachedPasswordCheck, _ call: any CallContext) throws -> BreachedPasswords.Outcome
}

extension BreachedPasswordCheck {
    /// The network policy of the lookup. The timeout is short because the user waits for the response.
    public var policy: HTTPPolicy {
        HTTPPolicy(allowsInsecureLoopback: allowInsecure, allowsPrivateNetwork: allowPrivateNetwork, timeoutMilliseconds: 2000)
    }
}
