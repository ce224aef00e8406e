import Contract
import Crypto
import Federation
import JSON
import ServiceContext

/// A trusted issuer, prepared for the verification of its tokens (Sources/IdentityPools/README.md, "Trusted issuers").
package final class KnownIssuer: Sendable {
    let name: String
    /// The issuer exactly as in `iss`.
    let issuer: String
    let arn: String
    let tenantId: String?
    let audiences: [String]
    /// The accepted values of `azp` in addition to `audiences`; `nil` accepts any.
    let authorizedParties: [String]?
    /// The configured keys; `nil` if they are fetched.
    let keys: JWKSet?
    let algorithms: Set<String>?
    /// The accepted header types, in lowercase and without `application/`.
    let types: Set<String>
    let claimLimits: [(claim: String, patterns: [PolicyText])]
    let maxLifetimeSeconds: Int64
    let maxAgeSeconds: Int64?
    let isSingleUse: Bool
    let uses: Set<String>
    let address: ProviderAddress

    /// - Throws: `InvalidTrustedIssuer` if a stored key or pattern is not valid.
    init(_ record: TrustedIssuerRecord, in realm: Deployment) throws {
        let settings = record.settings
        name = record.name
        arn = realm.arn(ofOpenIDProvider: record.name)
        switch settings.source {
        case .issuer(let url): (issuer, tenantId) = (url, nil)
        case .tenantId(let id): (issuer, tenantId) = (realm.issuer(of: .tenant(id)), id)
        }
        audiences = settings.audiences
        let parties = settings.authorizedParties ?? Self.defaultParties(issuer)
        authorizedParties = parties.contains("*") ? nil : parties
        keys = try settings.keys.map { try TrustedIssuerRules.keys($0) }
        algorithms = settings.algorithms.map { Set($0.map(\.rawValue)) }
        types = Set((settings.types ?? Self.defaultTypes).map(TokenTypes.canonical))
        claimLimits = try (settings.claims ?? [:]).map { limit in
            (limit.name, try limit.value.map { try PolicyText($0, wildcards: true, variables: false, "") })
        }
        maxLifetimeSeconds = settings.maxLifetimeSeconds
        maxAgeSeconds = settings.maxAgeSeconds
        isSingleUse = settings.singleUse
        uses = Set((settings.uses ?? [.roles]).map(\.rawValue))
        address = ProviderAddress(
            name: record.name, allowsInsecure: settings.allowInsecure, allowsPrivateNetwork: settings.allowPrivateNetwork,
            keySetURL: settings.jwksUri)
    }

    static let defaultTypes = ["JWT"]

    static func defaultParties(_ issuer: String) -> [String] { ExternalTokenRules.acceptsAnyParty(issuer: issuer) ? ["*"] : [] }

    /// The values of `Principal` that name the issuer in a trust policy.
    func principals(in realm: Deployment) -> [String] {
        [arn, realm.formerARN(ofOpenIDProvider: name)] + (name == SharedIssuer.google ? [SharedIssuer.google] : [])
    }

    /// The value of `aws:FederatedProvider`.
    var federatedProvider: String { name == SharedIssuer.google ? SharedIssuer.google : arn }

    func accepts(party: String) -> Bool { authorizedParties?.contains(party) ?? true || audiences.contains(party) }
}

/// The types in the headers of tokens (RFC 7515 section 4.1.9).
enum TokenTypes {
    static func canonical(_ type: String) -> String {
        let type = type.lowercased()
        let prefix = "application/"
        guard type.hasPrefix(prefix), !type.dropFirst(prefix.count).contains("/") else { return type }
        return String(type.dropFirst(prefix.count))
    }

    /// The types that mark another kind of token and cannot be accepted.
    static let foreign: Set = [
        "logout+jwt", "dpop+jwt", "secevent+jwt", "token-introspection+jwt", "oauth-authz-req+jwt", "oauth-id-jag+jwt", "txntoken+jwt",
        "client-authentication+jwt", "entity-statement+jwt", "pool+jwt",
    ]

    /// The kind of a token whose type is not accepted.
    static func kind(_ type: String) -> TokenKind {
        switch canonical(type) {
        case "at+jwt": .access
        case "pool+jwt": .pool
        default: .other
        }
    }
}

extension TrustedIssuerRecord {
    /// The record in the format of the contract, with all defaults.
    func answer(in realm: Deployment) -> TrustedIssuer {
        let (issuer, tenantId): (String, String?) =
            switch settings.source {
            case .issuer(let url): (url, nil)
            case .tenantId(let id): (realm.issuer(of: .tenant(id)), id)
            }
        return TrustedIssuer(
            name: name, arn: realm.arn(ofOpenIDProvider: name), issuer: issuer, tenantId: tenantId, audiences: settings.audiences,
            authorizedParties: settings.authorizedParties ?? KnownIssuer.defaultParties(issuer),
            keys: settings.keys.map { $0.map { EncodedObject($0) } }, jwksUri: settings.jwksUri,
            algorithms: settings.algorithms.map { $0.map(\.rawValue) }, types: settings.types ?? KnownIssuer.defaultTypes,
            claims: settings.claims ?? [:], maxLifetimeSeconds: settings.maxLifetimeSeconds, maxAgeSeconds: settings.maxAgeSeconds,
            singleUse: settings.singleUse, allowInsecure: settings.allowInsecure, allowPrivateNetwork: settings.allowPrivateNetwork,
            uses: (settings.uses ?? [.roles]).map(\.rawValue), thumbprints: settings.thumbprints ?? [], tags: settings.tags ?? [:],
            createdAt: createdAt, updatedAt: updatedAt)
    }
}
