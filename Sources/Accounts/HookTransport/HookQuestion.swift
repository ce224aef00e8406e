import Contract
import JSON

/// A hook that must decide before a transaction can commit. Thrown in the transaction, which is rolled back; the hook is asked outside of
/// it, and then the transaction runs again with the decision.
struct HookQuestion: Error {
    /// The hook, or the function in its place.
    enum Asked {
        case hook(Hook)
        /// A function in place of a hook.
        case function(HookFunction)
    }

    let hook: HookName
    let asked: Asked
    let tenantId: String
    let params: JSONObject
    /// What only functions get.
    var details = JSONObject()

    func asking(_ function: HookFunction) -> FunctionQuestion {
        FunctionQuestion(hook: hook, params: params, details: details, function: function)
    }

    /// The question as a key. If the facts differ in the second run, the hook is asked again.
    var key: String { "\(hook.rawValue) \(JSONValue.object(params).text)" }
}
