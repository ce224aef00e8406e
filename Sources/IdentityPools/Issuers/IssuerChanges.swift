import Contract
import ServiceContext
import Storage

/// The changes of trusted issuers that the IAM API makes.
extension IssuerService {
    /// Creates a trusted issuer.
    ///
    /// - Returns: The record, or `nil` if the issuer exists already.
    /// - Throws: `InvalidTrustedIssuer`, `TooManyTrustedIssuers`.
    package func create(_ settings: TrustedIssuerDeclaration, _ call: any CallContext) throws -> TrustedIssuerRecord? {
        let now = context.clock.now
        let name = try TrustedIssuerRules.name(of: settings, in: context.realm, allowsPlainLoopback: context.foreign.allowsPlainLoopback)
        return try context.database.write { tx in
            guard try tx.trustedIssuer(name) == nil else { return nil }
            let record = try tx.put(TrustedIssuerRecord(name: name, settings: settings, createdAt: now, updatedAt: now))
            try audit(IssuerPut.info.name, name, call, at: now, in: tx)
            return record
        }
    }

    /// Changes the settings of a trusted issuer.
    ///
    /// - Throws: `TrustedIssuerNotFound`, and the errors of `change`.
    package func update(
        arn: String, _ call: any CallContext, _ change: (inout TrustedIssuerDeclaration) throws -> Void
    ) throws {
        let now = context.clock.now
        try context.database.write { tx in
            let record = try find(.arn(arn), in: tx)
            var settings = record.settings
            try change(&settings)
            guard settings != record.settings else { return }
            _ = try tx.put(TrustedIssuerRecord(name: record.name, settings: settings, createdAt: record.createdAt, updatedAt: now))
            try audit(IssuerPut.info.name, record.name, call, at: now, in: tx)
        }
    }

    /// Returns the settings of a trusted issuer, or `nil` if it does not exist.
    package func settings(ofIssuerNamed name: String) throws -> TrustedIssuerDeclaration? {
        try context.database.read { try $0.trustedIssuer(name)?.settings }
    }

    private func audit(_ method: String, _ name: String, _ call: any CallContext, at now: Int64, in tx: Transaction) throws {
        try context.audit.record(
            AuditEvent(method: method, by: call, subject: context.realm.arn(ofOpenIDProvider: name)), at: now, in: tx)
    }
}
