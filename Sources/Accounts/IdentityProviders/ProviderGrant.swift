import Contract
import JSON

/// What a provider's token endpoint gave for later (RFC 6749 5.1): an access token for its own API, and what refreshes it.
struct ProviderGrant: Sendable, Equatable {
    /// Beside the endpoint's own members in what is kept of its answer: when that came, in seconds since 1970.
    static let receivedAt = "mintmark_received_at"
    /// How long after a token came no other one is asked for, in seconds: nothing better is to be had.
    static let justReceivedSeconds: Int64 = 10
    /// What providers say of a token's life is believed up to ten years.
    private static let longestLifeSeconds: Int64 = 315_360_000

    /// Who gave it to whom, as `IdpRecord.grantSource` has it: nobody else is shown the refresh token.
    let source: String
    var accessToken: String
    var refreshToken: String?
    /// nil where the provider does not say.
    var expiresAt: Int64?
    var scopes: [String]
    var obtainedAt: Int64
    /// Why the provider takes the refresh token no more.
    var refusal: String?
    /// Whether it was shown before, so that something newer may have followed it. Not of what is kept.
    var cameBefore = false

    /// What is done about a token that is asked for.
    enum Decision: Equatable {
        case serves
        case refresh(with: String)
        /// The provider gave nothing to refresh it with.
        case expired(at: Int64)
        /// The provider has said no.
        case refused(String)
    }

    /// - Parameter seconds: for how long the token has to be good still.
    func decide(for seconds: Int64, at now: Int64) -> Decision {
        guard let expiresAt else { return .serves }
        if expiresAt > now, expiresAt - now >= seconds || now - obtainedAt < Self.justReceivedSeconds { return .serves }
        if let refusal { return .refused(refusal) }
        return refreshToken.map { .refresh(with: $0) } ?? .expired(at: expiresAt)
    }

    /// What there is after an answer that came to a newer question; it may name no refresh token, where the one before stays good
    /// (RFC 6749 6).
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
    ///   - asked: the scopes that were asked for, which are those that were granted if the answer says nothing.
    ///   - source: who gave it to whom.
    ///   - now: when it came.
    /// - Returns: nil for an answer without an access token.
    init?(_ answer: JSONNode, asked: String, from source: String, at now: Int64) {
        guard let token = answer["access_token"]?.string, !token.isEmpty else { return nil }
        // Some write it as a string.
        let life = answer["expires_in"].flatMap { $0.number?.int64 ?? $0.string.flatMap { Int64($0) } }
        self.init(
            source: source, accessToken: token, refreshToken: answer["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : $0 },
            expiresAt: life.map { now + min(max($0, 0), Self.longestLifeSeconds) },
            scopes: Self.scopes(answer["scope"]?.string ?? asked), obtainedAt: now)
    }

    /// Words between spaces; GitHub puts commas there.
    private static func scopes(_ text: String) -> [String] { text.split { $0 == " " || $0 == "," }.map(String.init) }

    /// As it is sealed.
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

    /// - Returns: nil for what is not one.
    init?(_ object: JSONObject) {
        guard let source = object["source"]?.string, let token = object["accessToken"]?.string else { return nil }
        self.init(
            source: source, accessToken: token, refreshToken: object["refreshToken"]?.string, expiresAt: object["expiresAt"]?.int,
            scopes: object["scopes"]?.array?.compactMap(\.string) ?? [], obtainedAt: object["obtainedAt"]?.int ?? 0,
            refusal: object["refusal"]?.string)
    }
}

extension IdpRecord {
    /// Whom tokens come from and who they are for. A provider that was set up anew under the same name may be another one.
    var grantSource: String { "\(settings.issuer ?? settings.endpoint ?? "") \(settings.clientId)" }
}
