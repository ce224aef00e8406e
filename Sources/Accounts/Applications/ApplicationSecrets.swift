import Contract
import Platform
import ServiceContext
import Storage

/// The secrets of an application: at most two, so that one can replace the other without an interruption.
extension ApplicationService {
    /// The prefix of secrets, by which scanners of source code recognize them.
    private static let prefix = "mmcs_"

    /// Generates a secret. Only its HMAC is stored.
    ///
    /// - Throws: `TenantNotFound`, `ClientUnknown`, `ClientNotConfidential`, `TooManyClientSecrets`.
    public func addSecret(_ request: ApplicationAddSecret.Params, _ call: any CallContext) throws -> ApplicationAddSecret.Result {
        let now = context.clock.now
        let (id, secret) = (context.random.uuid(), Self.prefix + Base64URL.encode(context.random.bytes(32)))
        let mac = ApplicationAuthentication(context).mac(of: secret)
        try context.database.write { tx in
            let application = try stored(request.clientId, of: request.tenantId, in: tx)
            guard application.settings.type == .confidential else { throw ClientNotConfidential(clientId: application.clientId) }
            if application.secrets.count >= ClientSecretRecord.most {
                throw TooManyClientSecrets(clientId: application.clientId, maximum: Int64(ClientSecretRecord.most))
            }
            try tx.insert(
                ClientSecretRecord(id: id, applicationId: application.id, mac: mac, hint: String(secret.suffix(4)), createdAt: now))
            try record(
                AuditEvent(
                    ApplicationAddSecret.info.name, call, tenant: request.tenantId,
                    details: [("clientId", request.clientId), ("secretId", id)]), at: now, in: tx)
        }
        return ApplicationAddSecret.Result(
            tenantId: request.tenantId, clientId: request.clientId, secretId: id, clientSecret: secret, createdAt: now)
    }

    /// Deletes a secret, but never the last one: the application would otherwise no longer have to authenticate.
    ///
    /// - Throws: `TenantNotFound`, `ClientUnknown`, `ClientSecretNotFound`, `LastClientSecret`.
    public func deleteSecret(_ request: ApplicationDeleteSecret.Params, _ call: any CallContext) throws -> ApplicationDeleteSecret.Result {
        let now = context.clock.now
        return try context.database.write { tx in
            var application = try stored(request.clientId, of: request.tenantId, in: tx)
            guard let secret = application.secrets.first(where: { $0.id == request.secretId }) else {
                throw ClientSecretNotFound(clientId: application.clientId, secretId: request.secretId)
            }
            if application.secrets.count == 1 { throw LastClientSecret(clientId: application.clientId) }
            try tx.delete(secret)
            try record(
                AuditEvent(
                    ApplicationDeleteSecret.info.name, call, tenant: request.tenantId,
                    details: [("clientId", request.clientId), ("secretId", secret.id)]), at: now, in: tx)
            application.secrets.removeAll { $0 == secret }
            return application.answer
        }
    }

    /// Returns the application as stored. No other call changes the secrets of the tenant at the same time.
    private func stored(_ clientId: String, of tenantId: String, in tx: Transaction) throws -> ApplicationRecord {
        try tx.lock([KeyOwner.tenant(tenantId).path])
        guard let tenant = try tx.tenant(tenantId) else { throw TenantNotFound(tenantId: tenantId) }
        return try tenant.knownApplication(clientId)
    }

    private func record(_ event: AuditEvent, at now: Int64, in tx: Transaction) throws {
        try tx.advanceEpoch()
        try context.audit.record(event, at: now, in: tx)
    }
}
