import Contract
import Messages
import ServiceContext
import Storage

/// Implements the methods `hooks.*`.
public struct HooksService: Sendable {
    private var context: AccountsContext
    private let configurations: TenantConfigurationCache

    /// The maximum length of a secret, in bytes. The limit of the schema is higher because encrypted secrets are longer.
    private static let maximumSecretBytes = 512

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// Returns the hooks of a tenant.
    ///
    /// - Throws: `TenantNotFound`.
    public func get(_ request: HooksGet.Params, _ call: any CallContext) throws -> HooksGet.Result {
        try context.database.read { tx in
            _ = try configurations.tenant(request.tenantId, in: tx)
            return try tx.hooks(of: request.tenantId).answer
        }
    }

    /// Records which hooks the host of this process answers.
    ///
    /// - Throws: `HooksNotOffered` if the process has no host that receives requests.
    public func offer(_ request: HooksOffer.Params, _ call: any CallContext) throws -> HooksOffer.Result {
        try Self.offer(request, to: context.hooks.transports.host)
    }

    /// The same without a store: an offer is valid before the store is open.
    public static func offer(_ request: HooksOffer.Params, to host: any HookHost) throws -> HooksOffer.Result {
        if !host.isConnected, let hook = request.hooks.first { throw HooksNotOffered(hook: hook, reason: Hooks.noHost) }
        host.offer(Set(request.hooks))
        return HooksOffer.Result(hooks: request.hooks, deadlineSeconds: Hooks.deadlineSeconds)
    }

    /// Replaces the hooks of a tenant.
    ///
    /// - Throws: `TenantNotFound`, `InvalidTenantSettings`, `HooksNotOffered`.
    public func set(_ request: HooksSet.Params, _ call: any CallContext) throws -> HooksSet.Result {
        let now = context.clock.now
        var given: [HookName: Hook] = [:]
        given[.beforeCreate] = request.beforeCreate
        given[.beforeSignIn] = request.beforeSignIn
        given[.beforeSendMessage] = request.beforeSendMessage
        return try context.database.write { tx in
            _ = try configurations.tenant(request.tenantId, in: tx)
            let earlier = try tx.hooks(of: request.tenantId).hooks
            var kept: [HookName: Hook] = [:]
            for name in HookName.allCases {
                guard let hook = given[name] else { continue }
                kept[name] = try checked(hook, as: name, of: request.tenantId, earlier: earlier[name])
            }
            let settings = HookSettings(tenantId: request.tenantId, hooks: kept)
            try tx.setHooks(settings, at: now)
            try tx.advanceEpoch()
            let details = HookName.allCases.compactMap { name in kept[name].map { (name.rawValue, $0.transport.rawValue) } }
            try context.audit.record(AuditEvent(HooksSet.info.name, call, tenant: request.tenantId, details: details), at: now, in: tx)
            return settings.answer
        }
    }

    /// Returns a hook with its secret encrypted.
    ///
    /// - Throws: `InvalidTenantSettings`, `HooksNotOffered`.
    private func checked(_ hook: Hook, as name: HookName, of tenantId: String, earlier: Hook?) throws -> Hook {
        func refusal(_ member: String, _ reason: String) -> InvalidTenantSettings {
            InvalidTenantSettings(
                pointer: "/\(name.rawValue)/\(member)", reason: reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
        }
        guard hook.transport == .webhook else {
            if hook.webhook != nil { throw refusal("webhook", "only the transport webhook has it") }
            try context.hooks.requireHost(for: name)
            return hook
        }
        guard var webhook = hook.webhook else { throw refusal("webhook", "the transport webhook requires it") }
        if webhook.secret == nil, let before = earlier?.webhook, before.url == webhook.url {
            webhook.secret = before.secret
            return Hook(transport: .webhook, webhook: webhook)
        }
        guard let secret = webhook.secret else {
            throw refusal("webhook/secret", "a secret is required because requests are always signed")
        }
        do throws(WebhookEndpoint.Refusal) { _ = try webhook.endpoint(secret: secret) } catch {
            throw refusal(error.isOfSecret ? "webhook/secret" : "webhook/url", "\(error)")
        }
        if secret.utf8.count > Self.maximumSecretBytes {
            throw refusal("webhook/secret", "it is longer than \(Self.maximumSecretBytes) bytes")
        }
        webhook.secret = HookSecret.seal(secret, of: name, tenantId, context.vault)
        return Hook(transport: .webhook, webhook: webhook)
    }
}

extension HooksService: HooksHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
