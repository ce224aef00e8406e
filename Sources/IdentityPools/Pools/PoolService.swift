import Contract
import JSON
import ServiceContext

/// The `pool.*` methods, for identity pools.
public struct PoolService: Sendable {
    var context: ServiceContext
    let configurations: PoolConfigurationCache

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    func answer(_ pool: PoolRecord) -> Pool {
        let realm = context.realm
        return Pool(
            poolId: pool.id, name: pool.name, arn: realm.arn(ofPool: pool.id), issuer: realm.issuer(of: .pool(pool.id)),
            allowUnauthenticated: pool.allowUnauthenticated, allowClassicFlow: pool.allowClassicFlow,
            developerProvider: pool.developerProvider, providers: pool.providers.map(\.answer),
            signingAlgorithm: SigningAlgorithm(rawValue: pool.signingAlgorithm) ?? .ES256,
            tags: Members(pool.tags.members.map { ($0.name, $0.value.string ?? "") }), createdAt: pool.createdAt, updatedAt: pool.updatedAt)
    }

    func answer(_ roles: [String: String], _ mappings: Members<RoleMapping>, of poolId: String) -> PoolRoles {
        let realm = context.realm
        return PoolRoles(
            poolId: poolId,
            roles: RolesByKind(
                authenticated: roles["authenticated"].map { realm.arn(ofRole: $0) },
                unauthenticated: roles["unauthenticated"].map { realm.arn(ofRole: $0) }),
            mappings: mappings.isEmpty ? nil : mappings)
    }
}

extension PoolService: PoolHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}

extension LoginProvider {
    /// The provider in the format of the contract.
    fileprivate var answer: PoolProvider {
        PoolProvider(
            name: name, provider: stored["provider"]?.string.flatMap { PoolProvider.Provider(rawValue: $0) },
            issuer: stored["issuer"]?.string, tenantId: tenantId,
            clientIds: clientIds, keys: stored["keys"]?.array.map { $0.map { EncodedObject($0.object ?? [:]) } }, endpoint: endpoint,
            allowInsecure: allowsInsecure, allowPrivateNetwork: allowsPrivateNetwork)
    }
}
