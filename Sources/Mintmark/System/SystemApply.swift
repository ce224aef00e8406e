import Contract
import Provisioning

extension SystemService {
    /// Brings the store to what one document declares.
    ///
    /// - Throws: `InvalidParams` with everything that is wrong with the document.
    func apply(_ request: SystemApply.Params, _ call: any CallContext) throws -> SystemApply.Result {
        try mintmark.services().apply.apply(request, call)
    }
}
