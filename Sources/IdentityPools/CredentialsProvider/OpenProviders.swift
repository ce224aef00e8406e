import Contract
import Synchronization

/// The credentials providers that are open in this process.
final class OpenProviders: Sendable {
    /// The maximum number of open providers.
    static let limit = 1000

    private let all = Mutex<[String: CredentialsProviderSession]>([:])

    /// - Throws: `TooManyProviders`.
    func add(_ provider: CredentialsProviderSession) throws {
        let isAdded = all.withLock { all in
            guard all.count < Self.limit else { return false }
            all[provider.handle] = provider
            return true
        }
        if !isAdded { throw TooManyProviders(limit: Int64(Self.limit)) }
    }

    /// - Throws: `ProviderNotOpen`.
    func find(_ handle: String) throws -> CredentialsProviderSession {
        guard let provider = all.withLock({ $0[handle] }) else { throw ProviderNotOpen(provider: handle) }
        return provider
    }

    /// - Throws: `ProviderNotOpen`.
    func remove(_ handle: String) throws {
        guard all.withLock({ $0.removeValue(forKey: handle) }) != nil else { throw ProviderNotOpen(provider: handle) }
    }

    /// Returns the provider to which a continuation token belongs. The part before the dot is its handle.
    func find(asking continuationToken: String) -> CredentialsProviderSession? {
        guard let dot = continuationToken.firstIndex(of: ".") else { return nil }
        return all.withLock { $0[String(continuationToken[..<dot])] }
    }
}
