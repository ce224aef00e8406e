import Contract
import JSON
import Storage

/// Functions that decide in place of hooks, in the format of another product.
package protocol HookFunctions: Sendable {
    /// Returns the URL of the function that decides in place of a hook, or `nil`. Called in a transaction.
    func url(of hook: HookName, tenantId: String, in tx: Transaction) throws -> String?
    /// Returns the body of the request for the parameters of a hook.
    func body(of hook: HookName, _ params: JSONObject, url: String, at now: Int64) -> [UInt8]
    /// Returns the answer of a hook for a response.
    func reply(status: Int, _ body: [UInt8], of hook: HookName) -> HookReply
}
