import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// Temporary credentials for AWS SDKs.
struct AWSCredentials: Equatable {
    let accessKeyId: String
    let secretAccessKey: String
    let sessionToken: String
    /// In seconds since 1970.
    let expiresAt: Int64
    /// The number of the account, if it is known.
    let accountId: String?

    init(accessKeyId: String, secretAccessKey: String, sessionToken: String, expiresAt: Int64, accountId: String?) {
        (self.accessKeyId, self.secretAccessKey, self.sessionToken) = (accessKeyId, secretAccessKey, sessionToken)
        (self.expiresAt, self.accountId) = (expiresAt, accountId)
    }

    /// Reads the type `Credentials` of the contract.
    init?(_ value: JSONValue?, accountId: String?) {
        guard let value, let id = value["accessKeyId"]?.string, let secret = value["secretAccessKey"]?.string,
            let token = value["sessionToken"]?.string, let expiresAt = value["expiresAt"]?.int
        else { return nil }
        self.init(accessKeyId: id, secretAccessKey: secret, sessionToken: token, expiresAt: expiresAt, accountId: accountId)
    }

    /// The expiry as in RFC 3339.
    var expiration: String {
        let time = CalendarTime(expiresAt)
        let date = "\(time.year)-\(CalendarTime.twoDigits(time.month))-\(CalendarTime.twoDigits(time.day))"
        return "\(date)T\([time.hour, time.minute, time.second].map(CalendarTime.twoDigits).joined(separator: ":"))Z"
    }

    /// The form for the cache.
    var stored: JSONValue {
        var object: JSONObject = [
            "accessKeyId": .string(accessKeyId), "secretAccessKey": .string(secretAccessKey), "sessionToken": .string(sessionToken),
            "expiresAt": .number(JSONNumber(expiresAt)),
        ]
        object["accountId"] = accountId.map { .string($0) }
        return .object(object)
    }
}

/// Credentials that a command needs: their source and target.
struct CredentialRequest {
    struct RoleSession: Equatable {
        let sessionName: String
        let seconds: Int64?
        /// The AWS STS that is asked in place of the store.
        let endpoint: STSEndpoint?
    }

    enum Target: Equatable {
        case role(String, RoleSession)
        case pool(String)
    }

    let source: TokenSource
    let target: Target

    var endpoint: STSEndpoint? { if case .role(_, let session) = target { session.endpoint } else { nil } }

    /// Returns the name of the credentials in the cache.
    func cacheName(_ store: ToolStore) throws -> String {
        let wanted: [String] =
            switch target {
            case .pool(let pool): ["pool", pool]
            case .role(let role, let session):
                ["role", role, session.sessionName, session.seconds.map { "\($0)" } ?? "", session.endpoint?.url ?? ""]
            }
        let text = (wanted + [store.userName, try source.owner(store)]).joined(separator: "\u{1}")
        return Hex.encode(Hash.sha256(Array(text.utf8)).prefix(16))
    }

    /// Exchanges a token for credentials.
    ///
    /// - Throws: `ToolFailure`.
    func exchange(_ store: ToolStore) throws -> AWSCredentials {
        let token = try source.token(store)
        switch target {
        case .pool(let pool): return try Self.credentials(store, ofPool: pool, token)
        case .role(let role, let session):
            let arn = role.hasPrefix("arn:") ? role : store.realm.arn(ofRole: role)
            if let endpoint = session.endpoint {
                return try endpoint.assume(role: arn, session: session, token: token, settings: store.settings)
            }
            var params: JSONObject = ["roleArn": .string(arn), "sessionName": .string(session.sessionName), "token": .string(token.text)]
            params["durationSeconds"] = session.seconds.map { .number(JSONNumber($0)) }
            return try Self.read(store.call("credentials.assumeRole", params), account: Self.account(ofRole: arn))
        }
    }

    /// The account number in the ARN of a role.
    static func account(ofRole arn: String) -> String? {
        let parts = arn.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count > 4 && !parts[4].isEmpty ? String(parts[4]) : nil
    }

    private static func credentials(_ store: ToolStore, ofPool pool: String, _ token: SourceToken) throws -> AWSCredentials {
        let issuer = try store.call("pool.get", ["poolId": .string(pool)])["issuer"]?.string
        var params: JSONObject = ["token": .string(token.text)]
        if issuer != token.issuer {
            // As in AWS SDKs, the name of a login is its issuer without the scheme.
            let name = token.issuer.firstRange(of: "://").map { String(token.issuer[$0.upperBound...]) } ?? token.issuer
            let logins: JSONValue = .object([name: .string(token.text)])
            let identity = try store.call("identity.resolve", ["poolId": .string(pool), "logins": logins])
            params = ["identityId": identity["identityId"] ?? .null, "logins": logins]
        }
        return try read(store.call("credentials.get", params), account: store.realm.account)
    }

    private static func read(_ answer: JSONValue, account: String?) throws -> AWSCredentials {
        guard let credentials = AWSCredentials(answer["credentials"], accountId: account) else {
            throw ToolFailure(1, "internalError", "The answer contains no credentials.")
        }
        return credentials
    }
}
