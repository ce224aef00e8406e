import Contract
import Loopback

/// Maps errors that are not the provider's own, such as errors of the store and unexpected errors.
public struct ProviderFailures: Sendable {
    let named: @Sendable (any Error) -> (any ContractError)?
    let report: @Sendable (_ request: String, _ error: any Error) -> Void

    /// - Parameters:
    ///   - named: Returns the contract error for an error, or `nil` if it is unknown.
    ///   - report: Called with each error that no client caused, and with the method and path of the request.
    public init(
        named: @escaping @Sendable (any Error) -> (any ContractError)?,
        report: @escaping @Sendable (_ request: String, _ error: any Error) -> Void
    ) {
        self.named = named
        self.report = report
    }

    /// Returns the OAuth error for an error. Reports the error unless the client caused it.
    func refusal(for error: any Error, of request: LoopbackRequest) -> OAuthRefusal {
        if let refusal = error as? OAuthRefusal { return refusal }
        let known = named(error)
        let refusal =
            known.map { OAuthRefusal($0, or: "server_error") }
            ?? OAuthRefusal("server_error", "The request failed. The log contains the reason.")
        if refusal.status >= 500 { report("\(request.method) \(request.target.prefix { $0 != "?" })", error) }
        return refusal
    }
}
