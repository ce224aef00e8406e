import Contract
import Provisioning

extension SystemService {
    /// Returns the configuration of the store as a document for `system.apply`.
    func export(_ request: SystemExport.Params, _ call: any CallContext) throws -> SystemExport.Result {
        try mintmark.services().apply.export()
    }
}
