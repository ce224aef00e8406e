import Accounts
import Contract
import JSON
import ServiceContext
import SigningKeys
import Storage

extension TokenService {
    /// Returns the published keys of one issuer or of all issuers.
    ///
    /// - Throws: `IssuerNotFound`.
    /// - Source: RFC 7517 §5; `kid` is the thumbprint of RFC 7638.
    public func jwks(_ request: TokenJwks.Params, _ call: any CallContext) throws -> TokenJwks.Result {
        let now = context.clock.now
        return try context.database.read { tx in
            let rings = try owners(request.issuer, in: tx).map { try signingKeys.ring(of: $0, in: tx) }
            return TokenJwks.Result(
                keys: rings.flatMap { $0.published(at: now) }.map(\.publicJwk),
                nextChangeAt: rings.compactMap { $0.nextChange(after: now) }.min())
        }
    }

    private func owners(_ issuer: String?, in tx: Transaction) throws -> [KeyOwner] {
        guard let issuer else { return try tx.keyOwners() }
        return [try owner(ofIssuer: issuer, in: tx)]
    }

    /// - Throws: `IssuerNotFound`.
    func owner(ofIssuer issuer: String, in tx: Transaction) throws -> KeyOwner {
        guard let owner = context.realm.owner(ofIssuer: issuer) else { throw IssuerNotFound(issuer: issuer) }
        // The default tenant has no keys until it issues its first token.
        let isKnown = try owner.tenantId.map { try tx.tenant($0) != nil } ?? !signingKeys.ring(of: owner, in: tx).keys.isEmpty
        guard isKnown else { throw IssuerNotFound(issuer: issuer) }
        return owner
    }
}
