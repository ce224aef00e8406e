import Contract
import JSON
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
        let given = Self.given(request)
        return try context.database.write { tx in
            _ = try configurations.tenant(request.tenantId, in: tx)
            let settings = try plan(given, of: request.tenantId, in: tx)
            try tx.setHooks(settings, at: now)
            try tx.advanceEpoch()
            let details = HookName.allCases.compactMap { name in settings.hooks[name].map { (name.rawValue, $0.transport.rawValue) } }
            try context.audit.record(AuditEvent(HooksSet.info.name, call, tenant: request.tenantId, details: details), at: now, in: tx)
            return settings.answer
        }
    }

    private static func given(_ request: HooksSet.Params) -> [HookName: Hook] {
        var given: [HookName: Hook] = [:]
        given[.beforeCreate] = request.beforeCreate
        given[.beforeSignIn] = request.beforeSignIn
        given[.beforeSendMessage] = request.beforeSendMessage
        return given
    }

    /// Returns the hooks that replace those of a tenant.
    ///
    /// - Throws: `InvalidTenantSettings`, `HooksNotOffered`.
    private func plan(_ given: [HookName: Hook], of tenantId: String, in tx: Transaction) throws -> HookSettings {
        let earlier = try tx.hooks(of: tenantId).hooks
        var kept: [HookName: Hook] = [:]
        for name in HookName.allCases {
            guard let hook = given[name] else { continue }
            // A hook over the pipe that stays needs no new offer.
            if hook.transport == .pipe, hook.webhook == nil, earlier[name]?.transport == .pipe {
                kept[name] = hook
            } else {
                kept[name] = try checked(hook, as: name, of: tenantId, earlier: earlier[name])
            }
        }
        return HookSettings(tenantId: tenantId, hooks: kept)
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

/// The hooks of a document for `system.apply`, with those that are stored.
package struct PlannedHooks: Sendable {
    package let tenantId: String
    /// The names of the hooks that differ.
    package let changed: [String]
    package let isNew: Bool
    private let settings: HookSettings

    /// - Throws: `InvalidTenantSettings`, `HooksNotOffered`.
    package init(_ declaration: HooksDeclaration, by service: HooksService, in tx: Transaction) throws {
        tenantId = declaration.tenantId
        let before = try tx.hooks(of: tenantId)
        settings = try service.planned(
            HooksSet.Params(
                tenantId: declaration.tenantId, beforeCreate: declaration.beforeCreate, beforeSignIn: declaration.beforeSignIn,
                beforeSendMessage: declaration.beforeSendMessage), in: tx)
        let after = settings
        changed = try HookName.allCases.filter { try !service.isSame(before.hooks[$0], after.hooks[$0], as: $0, of: after.tenantId) }
            .map(\.rawValue)
        isNew = before.hooks.isEmpty && !after.hooks.isEmpty
    }

    package func write(at now: Int64, in tx: Transaction) throws { try tx.setHooks(settings, at: now) }
}

extension HooksService {
    fileprivate func planned(_ request: HooksSet.Params, in tx: Transaction) throws -> HookSettings {
        try plan(Self.given(request), of: request.tenantId, in: tx)
    }

    /// Whether two hooks are the same. Each encryption of a secret differs, so secrets are compared decrypted.
    fileprivate func isSame(_ one: Hook?, _ other: Hook?, as name: HookName, of tenantId: String) throws -> Bool {
        func opened(_ hook: Hook?) throws -> Hook? {
            guard var hook, let sealed = hook.webhook?.secret else { return hook }
            hook.webhook?.secret = try HookSecret.open(sealed, of: name, tenantId, context.vault)
            return hook
        }
        return try opened(one) == opened(other)
    }

    /// The hooks of a tenant as `HooksDeclaration`, without secrets; `nil` if it has none.
    package static func declaration(of tenantId: String, in tx: Transaction) throws -> JSONObject? {
        let settings = try tx.hooks(of: tenantId)
        if settings.hooks.isEmpty { return nil }
        var writer = JSONWriter()
        settings.answer.write(to: &writer)
        var object = try JSONValue(parsing: writer.bytes).object
        object?["deadlineSeconds"] = nil
        return object
    }
}
