import Contract
import JSON

/// A client that registered at an issuer (RFC 7591).
struct RegisteredClient: Sendable {
    let issuer: String
    let id: String
    /// The secret, or `nil` for a public client.
    let secret: String?
    /// The token with which the client manages its registration (RFC 7592).
    let accessToken: String
    let issuedAt: Int64
    var metadata: ClientMetadata

    /// The client at the endpoints.
    var known: KnownClient {
        KnownClient(settings: TestClient(clientId: id, clientSecret: secret, redirectUris: metadata.redirectUris), metadata: metadata)
    }

    /// The response to a registration (RFC 7591 §3.2.1).
    func answer(managedAt url: String) -> JSONObject {
        var answer = metadata.members
        answer["client_id"] = .string(id)
        answer["client_id_issued_at"] = .number(JSONNumber(issuedAt))
        if let secret {
            answer["client_secret"] = .string(secret)
            answer["client_secret_expires_at"] = 0
        }
        answer["registration_access_token"] = .string(accessToken)
        answer["registration_client_uri"] = .string(url)
        return answer
    }

    /// The record in a snapshot.
    var record: JSONObject {
        var record: JSONObject = [
            "issuer": .string(issuer), "accessToken": .string(accessToken), "issuedAt": .number(JSONNumber(issuedAt)),
            "metadata": .object(metadata.members),
        ]
        record["secret"] = secret.map { .string($0) }
        return record
    }

    init(issuer: String, id: String, secret: String?, accessToken: String, issuedAt: Int64, metadata: ClientMetadata) {
        (self.issuer, self.id, self.secret) = (issuer, id, secret)
        (self.accessToken, self.issuedAt, self.metadata) = (accessToken, issuedAt, metadata)
    }

    init?(id: String, record: JSONValue) {
        guard let issuer = record["issuer"]?.string, let accessToken = record["accessToken"]?.string, let issuedAt = record["issuedAt"]?.int,
            let members = record["metadata"]?.object, let metadata = try? ClientMetadata(members, from: .registration),
            record["secret"] == nil || record["secret"]?.string != nil
        else { return nil }
        self.init(
            issuer: issuer, id: id, secret: record["secret"]?.string, accessToken: accessToken, issuedAt: issuedAt, metadata: metadata)
    }
}
