import Contract
import IdentityPools
import ServiceContext

/// The methods behind the operations of AWS.
struct AmazonServices: Sendable {
    let context: ServiceContext
    let pool: PoolService
    let identity: IdentityService
    let token: PoolTokens
    let credentials: CredentialsService
    let role: RoleService
    let issuer: IssuerService
    let outbound: OutboundTokens

    init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        pool = PoolService(context, configurations)
        identity = IdentityService(context, configurations)
        token = PoolTokens(context, configurations)
        credentials = CredentialsService(context, configurations)
        role = RoleService(context, configurations)
        issuer = IssuerService(context, configurations)
        outbound = OutboundTokens(context, configurations)
    }

    /// Throws the error that `test.fault` has injected into this method.
    ///
    /// - Throws: `ChosenError`.
    func meetFault<M: ContractMethod>(of method: M.Type, _ call: any CallContext) throws {
        if let error = context.faults?.error(of: M.info.name) { throw error }
    }
}
