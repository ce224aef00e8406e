import Contract
import Provisioning

extension SystemService {
    /// Makes the store match a document.
    ///
    /// - Throws: `InvalidParams` with all violations in the document.
    func apply(_ request: SystemApply.Params, _ call: any CallContext) throws -> SystemApply.Result {
        try mintmark.services().apply.apply(request, call)
    }
}
