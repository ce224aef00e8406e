import Contract

extension RpcService {
    /// Returns the OpenRPC document of the methods that this process offers.
    func discover(_ request: RpcDiscover.Params, _ call: any CallContext) throws -> RpcDiscover.Result {
        OpenRPCDocument.describing { MethodRegistry.isOffered($0, by: mintmark.configuration) }
    }
}
