import Contract
import JSON
import ServiceContext
import Storage

/// Verifies tokens of trusted issuers for other purposes than roles.
package struct TrustedTokens: Sendable {
    let context: ServiceContext
    let configurations: PoolConfigurationCache

    package init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// A verified token.
    package struct Token: Sendable {
        package let issuer: String
        package let subject: String
        package let expiresAt: Int64
        package let claims: JSONNode
        private let mark: UsedWorkloadToken?

        init(_ token: WorkloadToken) {
            (issuer, subject, expiresAt, claims) = (token.issuer.issuer, token.subject, token.expiresAt, token.claims)
            mark = UsedWorkloadToken(token)
        }

        /// Stores that the token was used, if its issuer allows each token once.
        ///
        /// - Throws: `TokenReplayed`.
        package func use(in tx: Transaction) throws { try mark?.use(in: tx) }
    }

    /// Returns the issuer that a token names, which is not verified.
    ///
    /// - Throws: `TokenMalformed`.
    package func issuer(of token: String) throws -> String? { try PresentedToken(token).issuer }

    /// Verifies a token as subject or actor token of an exchange.
    ///
    /// - Throws: A `Token…` error, `ProviderUnavailable`, `ProviderUnusable`.
    package func verify(_ token: String, _ call: any CallContext, now: Int64) throws -> Token {
        let presented = try PresentedToken(token)
        let issuer = try context.database.read { tx in try presented.issuer.flatMap { try configurations.trustedIssuer($0, in: tx) } }
        let service = CredentialsService(context, configurations)
        let verified = try service.verify(presented, of: issuer, for: Self.use, call, now: now)
        // A token of the same second can be newer than the revocation.
        try context.database.read { tx in
            try requireTrust(in: verified.issuer.issuer, subject: verified.subject, issuedAt: verified.issuedAt.map { $0 + 1 } ?? 0, in: tx)
        }
        return Token(verified)
    }

    package static let use = "exchange"

    /// - Throws: `TokenRevoked` if the issuer is no longer trusted, or its subject was revoked since a token was issued.
    package func requireTrust(
        in issuer: String, subject: String, issuedAt: Int64, for use: String = TrustedTokens.use, in tx: Transaction
    ) throws {
        guard try configurations.trustedIssuer(issuer, in: tx)?.uses.contains(use) == true else {
            throw TokenRevoked(reason: "the issuer \(issuer) is no longer trusted")
        }
        let targets = Revocations.Target.of(issuer, subject)
        if try configurations.revocations(in: tx).hit(targets, issuedAt: issuedAt) != nil {
            throw TokenRevoked(reason: "credentials.revoke applies to the issuer or subject of a token")
        }
    }

    /// Whether tokens of an issuer can be exchanged.
    package func trusts(_ issuer: String, in tx: Transaction) throws -> Bool {
        try configurations.trustedIssuer(issuer, in: tx)?.uses.contains(Self.use) == true
    }
}
