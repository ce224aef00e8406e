import Accounts
import Contract
import JSON

/// Methods that work even if the store is not open.
enum StoreIndependentMethods {
    typealias Run = @Sendable (JSONNode?, any CallContext, inout JSONWriter) throws -> Void

    static func method(_ name: String, _ mintmark: Mintmark) -> Run? {
        let system = SystemService(mintmark)
        switch name {
        // In a testing store, `system.ping` needs the virtual clock of the store.
        case "system.ping" where !mintmark.configuration.testing: return run(SystemPing.self, system.ping)
        case "system.health": return run(SystemHealth.self, system.health)
        case "system.metrics": return run(SystemMetrics.self, system.metrics)
        case "hooks.offer": return run(HooksOffer.self) { request, _ in try HooksService.offer(request, to: mintmark.host) }
        case "rpc.discover": return run(RpcDiscover.self, RpcService(mintmark).discover)
        default: return nil
        }
    }

    private static func run<M: ContractMethod>(
        _: M.Type, _ handler: @escaping @Sendable (M.Params, any CallContext) throws -> M.Result
    ) -> Run {
        { params, call, writer in try handler(M.Params(decoding: params), call).write(to: &writer) }
    }
}
