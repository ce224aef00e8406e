import Contract
import JSON
import Storage

/// A function that decides in place of a hook, in the format of another product.
package struct HookFunction: Sendable, Equatable {
    package let url: String
    /// The details that the function gets, by their names, in addition to the parameters of the hook.
    package let details: Set<String>

    package init(url: String, details: Set<String> = []) {
        self.url = url
        self.details = details
    }
}

/// Functions that decide in place of hooks, in the format of another product.
package protocol HookFunctions: Sendable {
    /// Returns the function that decides in place of a hook, or `nil`. Called in a transaction.
    ///
    /// - Parameter params: Returns the parameters of the hook.
    func function(
        for hook: HookName, tenantId: String, in tx: Transaction, _ params: () throws -> JSONObject
    ) throws -> HookFunction?
    /// Returns the body of the request to a function.
    func body(for question: FunctionQuestion, at now: Int64) -> [UInt8]
    /// Returns the answer of a hook for a response.
    func reply(status: Int, _ body: [UInt8], of hook: HookName) -> HookReply
}

/// The request to a function that replaces a hook.
package struct FunctionQuestion: Sendable {
    package let hook: HookName
    package let params: JSONObject
    /// Details of the operation that only the API of the other product has, such as the credential of an identity provider.
    package let details: JSONObject
    package let function: HookFunction
}
