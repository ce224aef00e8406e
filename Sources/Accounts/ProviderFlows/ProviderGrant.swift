import Contract
import JSON

/// The stored response of a provider's token endpoint (RFC 6749 §5.1): an access token for the provider's API and its refresh token.
struct ProviderGrant: Sendable, Equatable {
    /// The member that stores the time of the response, in seconds since 1970-01-01 UTC, in addition to the members of the endpoint.
    static let receivedAt = "mintmark_received_at"
    /// The time for which a new token is not refreshed, in seconds, even if its remaining lifetime is too short.
    static let justReceivedSeconds: Int64 = 10
    /// The maximum accepted lifetime of a token: ten years, in seconds.
    private static let longestLifeSeconds: Int64 = 315_360_000

    /// The issuer and client, from `IdpRecord.grantSource`. The refresh token is sent to no other provider.
    let source: String
    var accessToken: String
    var refreshToken: String?
    /// The time at which the access token expires, or `nil` if the provider does not return a lifetime.
    var expiresAt: Int64?
    var scopes: [String]
    var obtainedAt: Int64
    /// The reason the provider rejected the refresh token.
    var refusal: String?
    /// Whether the grant is from a pending token, so that a newer grant may already be stored. Not stored itself.
    var cameBefore = false

    /// The action for a request for a token.
    enum Decision: Equatable {
        case serves
        case refresh(with: String)
        /// The token has expired, and the provider issued no refresh token.
        case expired(at: Int64)
        /// The provider has rejected the refresh token.
        case refused(String)
    }

    /// - Parameter seconds: The required remaining lifetime of the access token, in seconds.
    func decide(for seconds: Int64, at now: Int64) -> Decision {
        guard let expiresAt else { return .serves }
        if expiresAt > now, expiresAt - now >= seconds || now - obtainedAt < Self.justReceivedSeconds { return .serves }
        if let refusal { return .refused(refusal) }
        return refreshToken.map { .refresh(with: $0) } ?? .expired(at: expiresAt)
    }

    /// Returns the grant to store after this newer response. If the response contains no refresh token, the older one remains valid (RFC
    /// 6749 §6).
    func following(_ older: ProviderGrant?) -> ProviderGrant {
        guard let older else { return self }
        if older.source != source { return self }
        if cameBefore, older.obtainedAt > obtainedAt { return older }
        var grant = self
        grant.cameBefore = false
        if grant.refreshToken == nil { (grant.refreshToken, grant.refusal) = (older.refreshToken, older.refusal) }
        return grant
    }
}

extension ProviderGrant {
    /// - Parameters:
    ///   - asked: The requested scopes. They are the granted scopes if the response contains none.
    ///   - source: The issuer and client.
    ///   - now: The time of the response.
    /// - Returns: `nil` if the response contains no access token.
    init?(_ answer: JSONNode, asked: String, from source: String, at now: Int64) {
        guard let token = answer["access_token"]?.string, !token.isEmpty else { return nil }
        // Some providers send the number as a string.
        let life = answer["expires_in"].flatMap { $0.number?.int64 ?? $0.string.flatMap { Int64($0) } }
        self.init(
            source: source, accessToken: token, refreshToken: answer["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : $0 },
            expiresAt: life.map { now + min(max($0, 0), Self.longestLifeSeconds) },
            scopes: Self.scopes(answer["scope"]?.string ?? asked), obtainedAt: now)
    }

    /// Splits a list of scopes at spaces, or at commas as GitHub sends them.
    private static func scopes(_ text: String) -> [String] { text.split { $0 == " " || $0 == "," }.map(String.init) }

    /// The members of the encrypted JSON object.
    var object: JSONObject {
        var object: JSONObject = [
            "source": .string(source), "accessToken": .string(accessToken), "scopes": .array(scopes.map { .string($0) }),
            "obtainedAt": .number(JSONNumber(obtainedAt)),
        ]
        object["refreshToken"] = refreshToken.map { .string($0) }
        object["expiresAt"] = expiresAt.map { .number(JSONNumber($0)) }
        object["refusal"] = refusal.map { .string($0) }
        return object
    }

    /// - Returns: `nil` if the object is not a stored grant.
    init?(_ object: JSONObject) {
        guard let source = object["source"]?.string, let token = object["accessToken"]?.string else { return nil }
        self.init(
            source: source, accessToken: token, refreshToken: object["refreshToken"]?.string, expiresAt: object["expiresAt"]?.int,
            scopes: object["scopes"]?.array?.compactMap(\.string) ?? [], obtainedAt: object["obtainedAt"]?.int ?? 0,
            refusal: object["refusal"]?.string)
    }
}

extension IdpRecord {
    /// The issuer of provider tokens and the client they are for. A provider that was created again under the same name can be another one.
    var grantSource: String { "\(settings.issuer ?? settings.endpoint ?? "") \(settings.clientId)" }
}
