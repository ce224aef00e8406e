import Accounts
import Contract
import IdentityPools
import ServiceContext
import SigningKeys

/// Implements the methods `token.*`.
public struct TokenService: Sendable {
    var context: ServiceContext
    var accounts: AccountsContext
    let signingKeys: SigningKeys
    let pools: PoolConfigurationCache
    let tenants: TenantConfigurationCache
    var tenantTokens: TenantTokenVerifier { TenantTokenVerifier(context: context, configurations: tenants) }
    var poolTokens: PoolTokenVerifier { PoolTokenVerifier(context: context, configurations: pools) }
    var minting: PoolTokens { PoolTokens(context, pools) }

    public init(_ accounts: AccountsContext, _ pools: PoolConfigurationCache, _ tenants: TenantConfigurationCache) {
        self.accounts = accounts
        context = accounts.service
        signingKeys = pools.signingKeys
        self.pools = pools
        self.tenants = tenants
    }

    public func mint(_ request: TokenMint.Params, _ call: any CallContext) throws -> TokenMint.Result { try minting.mint(request, call) }

    public func mintForDeveloper(
        _ request: TokenMintForDeveloper.Params, _ call: any CallContext
    ) throws -> TokenMintForDeveloper.Result {
        try minting.mintForDeveloper(request, call)
    }

    func mintInPhases(_ request: TokenMint.Params, _ call: any CallContext) throws -> Phase<TokenMint.Result> {
        try minting.mintInPhases(request, call)
    }

    func mintForDeveloperInPhases(
        _ request: TokenMintForDeveloper.Params, _ call: any CallContext
    ) throws -> Phase<TokenMintForDeveloper.Result> {
        try minting.mintForDeveloperInPhases(request, call)
    }
}

extension TokenService: TokenHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.accounts = accounts.scoped(to: call)
        copy.context = copy.accounts.service
        return copy
    }
}
