import Contract
import Storage

/// What a credential is for.
struct CredentialUse: Sendable {
    /// The ID of the account that the credential is for, or `nil` for a sign-in.
    var accountId: String?
    /// The application in which the user signs in.
    var application: ApplicationRecord?
}

extension IdpFlow {
    /// Returns whether the credential of this flow can be used in an application. A flow without an application belongs to all of them.
    func isFor(_ candidate: ApplicationRecord?) -> Bool {
        guard let application else { return true }
        guard let candidate, candidate.clientId == application.clientId else { return false }
        return candidate.isDefault || candidate.id == application.id
    }
}

/// The application for which an authorization flow was started.
struct IdpFlowApplication: Sendable {
    private let context: AccountsContext

    init(_ context: AccountsContext) { self.context = context }

    /// Returns the application in which the user of a credential signs in: the one of the flow, otherwise the one that the request names.
    ///
    /// - Throws: `ClientUnknown`; `ContinuationTokenInvalid` if the flow belongs to another application or to one that was deleted.
    func application(of credential: Credential, _ clientId: String?, in tenant: TenantRecord) throws -> ApplicationRecord {
        let requested = try tenant.knownApplication(clientId)
        guard case .continuationToken(let token) = credential.kind, credential.response == nil else { return requested }
        let flow = try context.database.read { tx in try tx.idpFlow(try ContinuationTokens(context).read(token, in: tx).id) }
        guard let flow, flow.tenantId == tenant.id, let own = flow.application else { return requested }
        // The application that holds the token of another one must not learn whose it is.
        guard let application = clientId == nil ? tenant.application(own.clientId) : requested, flow.isFor(application) else {
            throw ContinuationTokenInvalid()
        }
        return application
    }
}

extension IdpService {
    /// Returns the application that a request names.
    ///
    /// - Throws: `TenantNotFound`, `ClientUnknown`, `ClientNotPermitted`, `InvalidParams`.
    func application(_ clientId: String?, besides idToken: String?, redirectUri: String?, in tenantId: String) throws -> ApplicationName? {
        guard let clientId else { return nil }
        if idToken != nil {
            let message = "clientId cannot be combined with idToken: the flow belongs to the application of the session. Omit clientId."
            throw InvalidParams(violations: [Violation(pointer: "/clientId", rule: "unknown", message: message)])
        }
        let application = try context.database.read { try configurations.tenant(tenantId, in: $0) }.knownApplication(clientId)
        if let redirectUri, !application.allows(redirectUri: redirectUri) {
            throw ClientNotPermitted(
                clientId: clientId, cause: .redirectUriNotAllowed, reason: "its redirectUris do not contain the requested URI")
        }
        return ApplicationName(id: application.id, clientId: clientId)
    }
}

extension ApplicationRecord {
    /// Returns whether a provider may redirect the browser to a URI. An application without redirect URIs allows all.
    ///
    /// URIs are compared as text. A loopback address can have any port, because the application chooses a free one (RFC 8252 §7.3).
    func allows(redirectUri: String) -> Bool {
        let own = settings.redirectUris ?? []
        if own.isEmpty || own.contains(redirectUri) { return true }
        guard let requested = RedirectRule.withoutLoopbackPort(redirectUri) else { return false }
        return own.contains { RedirectRule.withoutLoopbackPort($0) == requested }
    }
}

extension RedirectRule {
    /// Returns a URI of a loopback address without its port, or `nil` for another URI.
    fileprivate static func withoutLoopbackPort(_ uri: String) -> String? {
        for host in ["http://127.0.0.1", "http://[::1]"] where uri.hasPrefix(host) {
            var rest = uri.dropFirst(host.count)
            if rest.first == ":" { rest = rest.dropFirst().drop { ("0"..."9").contains($0) } }
            if rest.isEmpty || rest.first == "/" || rest.first == "?" { return host + rest }
        }
        return nil
    }
}

extension IdpFlowSecrets {
    init(_ context: AccountsContext) { self.init(context.vault, seeded: context.seededKey("idp flow")) }
}
