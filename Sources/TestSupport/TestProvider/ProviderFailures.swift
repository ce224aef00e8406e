import Contract
import Loopback

/// What becomes of errors that are not the provider's own: those of the store, and what nobody has thought of.
public struct ProviderFailures: Sendable {
    let named: @Sendable (any Error) -> (any ContractError)?
    let report: @Sendable (_ request: String, _ error: any Error) -> Void

    /// - Parameters:
    ///   - named: what the contract calls an error, nil for one that it does not know.
    ///   - report: is told of each error that no client is to blame for, and of what it came with: method and path.
    public init(
        named: @escaping @Sendable (any Error) -> (any ContractError)?,
        report: @escaping @Sendable (_ request: String, _ error: any Error) -> Void
    ) {
        self.named = named
        self.report = report
    }

    /// How a client is told of an error, which is reported unless it is the client's.
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
