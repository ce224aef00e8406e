import Accounts
import Contract
import IdentityPools
import ServiceContext
import SigningKeys

/// Implements the methods `token.*`.
public struct TokenService: Sendable {
    let context: ServiceContext
    let signingKeys: SigningKeys
    let tenantTokens: TenantTokenVerifier
    let poolTokens: PoolTokenVerifier
    let minting: PoolTokens

    public init(_ context: ServiceContext, _ pools: PoolConfigurationCache) {
        self.context = context
        signingKeys = pools.signingKeys
        tenantTokens = TenantTokenVerifier(context: context, signingKeys: pools.signingKeys)
        poolTokens = PoolTokenVerifier(context: context, configurations: pools)
        minting = PoolTokens(context, pools)
    }

    public func mint(_ request: TokenMint.Params, _ call: any CallContext) throws -> TokenMint.Result { try minting.mint(request, call) }

    public func mintForDeveloper(
        _ request: TokenMintForDeveloper.Params, _ call: any CallContext
    ) throws -> TokenMintForDeveloper.Result {
        try minting.mintForDeveloper(request, call)
    }
}

extension TokenService: TokenHandlers {}
