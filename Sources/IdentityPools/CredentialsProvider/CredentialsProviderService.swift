import Contract
import ServiceContext

/// The `credentialsProvider.*` methods: credentials providers as in the AWS mobile SDKs.
public struct CredentialsProviderService: Sendable {
    var context: ServiceContext
    let configurations: PoolConfigurationCache
    let providers = OpenProviders()

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// Returns an open provider. A provider that was opened before the store was reset counts as closed.
    ///
    /// - Throws: `ProviderNotOpen`.
    func provider(_ handle: String) throws -> CredentialsProviderSession {
        let provider = try providers.find(handle)
        if try provider.storeId == storeId() { return provider }
        try providers.remove(handle)
        throw ProviderNotOpen(provider: handle)
    }

    func storeId() throws -> String { try context.database.read { try configurations.storeId(in: $0) } }

    var tokens: PoolTokens { PoolTokens(context, configurations) }
    var identities: IdentityService { IdentityService(context, configurations) }
    var credentials: CredentialsService { CredentialsService(context, configurations) }
}

extension CredentialsProviderService: CredentialsProviderHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}

extension CredentialsProviderAnswer {
    init(_ held: CachedCredentials.Held) {
        self = .ready(.init(identityId: held.identityId, credentials: held.credentials, roleArn: held.roleArn))
    }

    /// The request for the awaited token, or `nil` if no token is awaited.
    init?(asking memory: CachedCredentials) {
        guard let awaited = memory.awaited else { return nil }
        self = .tokenRequired(
            .init(
                identityId: memory.identityId, continuationToken: awaited.continuationToken, logins: memory.logins,
                reason: awaited.reason))
    }
}
