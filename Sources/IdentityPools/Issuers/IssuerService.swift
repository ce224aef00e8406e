import Contract
import ServiceContext
import Storage

/// The `issuer.*` methods, for trusted issuers.
public struct IssuerService: Sendable {
    var context: ServiceContext
    let configurations: PoolConfigurationCache

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// Returns the name of a trusted issuer: the issuer without its scheme.
    private func name(ofARN arn: String) -> String? { context.realm.openIDProviderName(of: arn) }

    private func record(issuer: String, in tx: Transaction) throws -> TrustedIssuerRecord? {
        guard let record = try tx.trustedIssuer(TrustedIssuerRules.strip(issuer)), record.issuer(in: context.realm) == issuer else {
            return nil
        }
        return record
    }

    private func record(tenantId: String, in tx: Transaction) throws -> TrustedIssuerRecord? {
        let record = try tx.trustedIssuer(TrustedIssuerRules.strip(context.realm.issuer(of: .tenant(tenantId))))
        return record?.tenantId == tenantId ? record : nil
    }

    func find(_ selector: IssuerGet.Params.Selector, in tx: Transaction) throws -> TrustedIssuerRecord {
        let (record, asked): (TrustedIssuerRecord?, String) =
            switch selector {
            case .issuer(let issuer): (try record(issuer: issuer, in: tx), issuer)
            case .arn(let arn): (try name(ofARN: arn).flatMap { try tx.trustedIssuer($0) }, arn)
            case .tenantId(let id): (try record(tenantId: id, in: tx), id)
            }
        guard let record else { throw TrustedIssuerNotFound(issuer: asked) }
        return record
    }
}

extension TrustedIssuerRecord {
    package var tenantId: String? { if case .tenantId(let id) = settings.source { id } else { nil } }

    /// Returns the issuer exactly as in `iss`.
    package func issuer(in realm: Deployment) -> String {
        switch settings.source {
        case .issuer(let url): url
        case .tenantId(let id): realm.issuer(of: .tenant(id))
        }
    }
}

extension IssuerService: IssuerHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }

    /// - Throws: `InvalidTrustedIssuer`, `TenantNotFound`, `TooManyTrustedIssuers`.
    public func put(_ request: IssuerPut.Params, _ call: any CallContext) throws -> IssuerPut.Result {
        try put(TrustedIssuerDeclaration(request), by: IssuerPut.info.name, call).answer(in: context.realm)
    }

    /// Creates or replaces a trusted issuer.
    func put(_ settings: TrustedIssuerDeclaration, by method: String, _ call: any CallContext) throws -> TrustedIssuerRecord {
        let now = context.clock.now
        let name = try TrustedIssuerRules.name(of: settings, in: context.realm, allowsPlainLoopback: context.foreign.allowsPlainLoopback)
        return try context.database.write { tx in
            if case .tenantId(let id) = settings.source, try !configurations.tenants.exists(id, in: tx) {
                throw TenantNotFound(tenantId: id)
            }
            let record = try tx.put(TrustedIssuerRecord(name: name, settings: settings, createdAt: now, updatedAt: now))
            try context.audit.record(
                AuditEvent(method: method, by: call, subject: context.realm.arn(ofOpenIDProvider: name)), at: now, in: tx)
            return record
        }
    }

    /// - Throws: `TrustedIssuerNotFound`.
    public func get(_ request: IssuerGet.Params, _ call: any CallContext) throws -> IssuerGet.Result {
        try context.database.read { try find(request.selector, in: $0) }.answer(in: context.realm)
    }

    /// - Throws: `InvalidCursor`.
    public func list(_ request: IssuerList.Params, _ call: any CallContext) throws -> IssuerList.Result {
        let list = PagedList(method: IssuerList.info.name)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { try $0.trustedIssuers(after: start, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit, place: \.name)
        return IssuerList.Result(issuers: page.elements.map { $0.answer(in: context.realm) }, nextCursor: page.nextCursor)
    }

    /// - Throws: `TrustedIssuerNotFound`.
    public func delete(_ request: IssuerDelete.Params, _ call: any CallContext) throws -> IssuerDelete.Result {
        let now = context.clock.now
        let selector: IssuerGet.Params.Selector =
            switch request.selector {
            case .issuer(let issuer): .issuer(issuer)
            case .arn(let arn): .arn(arn)
            case .tenantId(let id): .tenantId(id)
            }
        try context.database.write { tx in
            let record = try find(selector, in: tx)
            _ = try tx.deleteTrustedIssuer(record.name)
            try context.audit.record(
                AuditEvent(method: IssuerDelete.info.name, by: call, subject: context.realm.arn(ofOpenIDProvider: record.name)), at: now,
                in: tx)
        }
        return IssuerDelete.Result()
    }
}
