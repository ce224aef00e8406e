import Contract
import JSON

/// An error of the contract whose data also contains the error code of OAuth 2.0, as `oauthError`.
struct OAuthFault<Base: ContractError>: ContractError {
    let base: Base
    let oauthError: String

    static var code: Int { Base.code }
    static var type: String { Base.type }

    var message: String { base.message }

    func writeData(to writer: inout JSONWriter) {
        var data = JSONWriter(reservingCapacity: 256)
        base.writeData(to: &data)
        var object = (try? JSONValue(parsing: data.bytes))?.object ?? ["type": .string(Base.type)]
        object["oauthError"] = .string(oauthError)
        writer.value(.object(object))
    }
}

/// The error codes of OAuth 2.0 for errors of the contract (RFC 8693 section 2.2.2, RFC 8707 section 2).
enum OAuthErrors {
    /// The kind of token that is requested. Errors have different codes for each.
    enum Purpose {
        case exchange
        /// An assertion for another authorization server.
        case assertion
        /// The redemption of an assertion, which is a grant (RFC 7523 section 3.1).
        case grant
    }

    /// Runs `body` and adds the error code of OAuth 2.0 to its errors. Errors of the store and of the protocol have none.
    static func naming<R>(_ purpose: Purpose, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as any ContractError {
            guard (2000..<8000).contains(error.code) else { throw error }
            throw fault(error, purpose)
        }
    }

    private static func fault<E: ContractError>(_ error: E, _ purpose: Purpose) -> any ContractError {
        OAuthFault(base: error, oauthError: code(of: error, purpose))
    }

    static func code(of error: any ContractError, _ purpose: Purpose) -> String {
        switch error {
        case is ClientUnknown, is ClientSecretInvalid: "invalid_client"
        case is ScopeNotGranted, is ScopeNotOffered: "invalid_scope"
        case is ProviderUnavailable: "temporarily_unavailable"
        case _ where purpose == .grant: "invalid_grant"
        case is ExchangeNotAllowed where purpose == .assertion: "invalid_target"
        case is AudienceNotOffered: "invalid_target"
        case is ActorNotAllowed, is ExchangeNotAllowed: "unauthorized_client"
        default: "invalid_request"
        }
    }
}
