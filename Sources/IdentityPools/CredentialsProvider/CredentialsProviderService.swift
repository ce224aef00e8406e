import Contract
import ServiceContext

/// The `credentialsProvider.*` methods: credentials providers as in the AWS mobile SDKs.
public struct CredentialsProviderService: Sendable {
    let surroundings: ServiceContext
    let catalogue: PoolConfigurationCache
    let providers = OpenProviders()

    public init(_ surroundings: ServiceContext, _ catalogue: PoolConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }

    /// Returns an open provider. A provider that was opened before the store was reset counts as closed.
    ///
    /// - Throws: `ProviderNotOpen`.
    func provider(_ handle: String) throws -> OpenProvider {
        let provider = try providers.find(handle)
        if try provider.storeId == storeId() { return provider }
        try providers.remove(handle)
        throw ProviderNotOpen(provider: handle)
    }

    func storeId() throws -> String { try surroundings.database.read { try catalogue.storeId(in: $0) } }

    var tokens: PoolTokens { PoolTokens(surroundings, catalogue) }
    var identities: IdentityService { IdentityService(surroundings, catalogue) }
    var credentials: CredentialsService { CredentialsService(surroundings, catalogue) }
}

extension CredentialsProviderService: CredentialsProviderHandlers {}

extension CredentialsProviderAnswer {
    init(_ held: ProviderMemory.Held) {
        self.init(state: .ready, identityId: held.identityId, credentials: held.credentials, roleArn: held.roleArn)
    }

    /// The request for the awaited token, or `nil` if no token is awaited.
    init?(asking memory: ProviderMemory) {
        guard let awaited = memory.awaited else { return nil }
        self.init(
            state: .tokenRequired, identityId: memory.identityId, continuationToken: awaited.continuationToken, logins: memory.logins,
            reason: awaited.reason)
    }
}
