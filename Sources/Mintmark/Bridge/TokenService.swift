import Accounts
import Contract
import IdentityPools
import ServiceContext
import SigningKeys

/// Implements the methods `token.*`.
public struct TokenService: Sendable {
    let surroundings: ServiceContext
    let signingKeys: SigningKeys
    let tenantTokens: TenantTokenVerifier
    let poolTokens: PoolTokenVerifier
    let minting: PoolTokens

    public init(_ surroundings: ServiceContext, _ pools: PoolConfigurationCache) {
        self.surroundings = surroundings
        signingKeys = pools.signingKeys
        tenantTokens = TenantTokenVerifier(surroundings: surroundings, signingKeys: pools.signingKeys)
        poolTokens = PoolTokenVerifier(surroundings: surroundings, catalogue: pools)
        minting = PoolTokens(surroundings, pools)
    }

    public func mint(_ request: TokenMint.Params, _ call: any CallContext) throws -> TokenMint.Result { try minting.mint(request, call) }

    public func mintForDeveloper(
        _ request: TokenMintForDeveloper.Params, _ call: any CallContext
    ) throws -> TokenMintForDeveloper.Result {
        try minting.mintForDeveloper(request, call)
    }
}

extension TokenService: TokenHandlers {}
