import Contract
import JSON
import Storage

extension Transaction {
    package func idp(_ providerId: String, of tenantId: String) throws -> IdpRecord? {
        try queryOne(
            "SELECT settings, client_secret, created_at, updated_at FROM idp WHERE tenant_id = $1 AND provider_id = $2", tenantId,
            providerId,
            row: IdpRecord.init)
    }

    package func idps(of tenantId: String, after providerId: String, limit: Int) throws -> [IdpRecord] {
        try query(
            """
            SELECT settings, client_secret, created_at, updated_at FROM idp WHERE tenant_id = $1 AND provider_id > $2
            ORDER BY provider_id LIMIT $3
            """, tenantId, providerId, limit, row: IdpRecord.init)
    }

    /// Adds a provider. Returns `false` if a provider with this ID already exists.
    package func insert(_ idp: IdpRecord) throws -> Bool {
        try execute(
            """
            INSERT INTO idp (tenant_id, provider_id, settings, client_secret, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (tenant_id, provider_id) DO NOTHING
            """, idp.tenantId, idp.providerId, JSONValue.object(idp.settings.stored).text, idp.clientSecret, idp.createdAt, idp.updatedAt)
            == 1
    }

    package func update(_ idp: IdpRecord) throws {
        try execute(
            "UPDATE idp SET settings = $3, client_secret = $4, updated_at = $5 WHERE tenant_id = $1 AND provider_id = $2", idp.tenantId,
            idp.providerId, JSONValue.object(idp.settings.stored).text, idp.clientSecret, idp.updatedAt)
    }

    /// Deletes a provider. Returns `false` if it does not exist.
    func deleteIdp(_ providerId: String, of tenantId: String) throws -> Bool {
        try execute("DELETE FROM idp WHERE tenant_id = $1 AND provider_id = $2", tenantId, providerId) == 1
    }

    /// Deletes all providers of a tenant.
    func deleteIdps(of tenantId: String) throws { try execute("DELETE FROM idp WHERE tenant_id = $1", tenantId) }
}

extension IdpRecord {
    fileprivate init(_ row: Row) throws {
        var settings = try IdpCreate.Params(decoding: JSONText(row.string(0)).root)
        settings.responseType = settings.responseType ?? Self.formerResponseType(of: settings.providerId)
        self.init(settings: settings, clientSecret: row.optionalBytes(1), createdAt: row.int(2), updatedAt: row.int(3))
    }
}

extension IdpCreate.Params {
    /// The settings as stored: the parameters of `idp.create` without the client secret.
    package var stored: JSONObject {
        var object: JSONObject = [
            "tenantId": .string(tenantId), "providerId": .string(providerId), "clientId": .string(clientId), "enabled": .bool(enabled),
            "openidOnly": .bool(openidOnly), "trustEmail": .bool(trustEmail), "allowInsecure": .bool(allowInsecure),
            "allowPrivateNetwork": .bool(allowPrivateNetwork),
        ]
        object["issuer"] = issuer.map { .string($0) }
        object["displayName"] = displayName.map { .string($0) }
        object["clientAuthentication"] = clientAuthentication.map { .string($0.rawValue) }
        object["responseType"] = responseType.map { .string($0.rawValue) }
        object["scopes"] = scopes.map { .array($0.map { .string($0) }) }
        object["requiredAcr"] = requiredAcr.map { .array($0.map { .string($0) }) }
        object["maxAuthAgeSeconds"] = maxAuthAgeSeconds.map { .number(JSONNumber($0)) }
        object["moreClientIds"] = moreClientIds.map { .array($0.map { .string($0) }) }
        object["keys"] = keys.map { .array($0.map { .object($0) }) }
        object["endpoint"] = endpoint.map { .string($0) }
        return object
    }
}
