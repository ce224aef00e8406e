import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// The table of hooks. A tenant without hooks has no row.
package enum HookTables {
    package static let statements: [SQL] = [
        "CREATE TABLE tenant_hooks (tenant_id TEXT PRIMARY KEY, hooks TEXT NOT NULL, updated_at BIGINT NOT NULL)"
    ]
}

/// The hooks of a tenant, with encrypted secrets.
///
/// A class, so that the cache copies one reference.
package final class HookSettings: Sendable {
    let tenantId: String
    let hooks: [HookName: Hook]

    init(tenantId: String, hooks: [HookName: Hook] = [:]) {
        self.tenantId = tenantId
        self.hooks = hooks
    }

    /// The settings as methods return them, without secrets.
    var answer: TenantHooks {
        func shown(_ name: HookName) -> Hook? {
            var hook = hooks[name]
            hook?.webhook?.secret = nil
            return hook
        }
        return TenantHooks(
            tenantId: tenantId, beforeCreate: shown(.beforeCreate), beforeSignIn: shown(.beforeSignIn),
            beforeSendMessage: shown(.beforeSendMessage), deadlineSeconds: Hooks.deadlineSeconds)
    }
}

/// The secret of a hook's webhook. It is encrypted in the store, and decrypted only to sign a request.
enum HookSecret {
    static func seal(_ secret: String, of hook: HookName, _ tenantId: String, _ vault: Vault) -> String {
        Base64URL.encode(vault.seal(SecretBytes(Array(secret.utf8)), as: name(hook, tenantId)))
    }

    /// - Throws: `SealBroken`.
    static func open(_ text: String, of hook: HookName, _ tenantId: String, _ vault: Vault) throws -> String {
        guard let sealed = Base64URL.decode(text) else { throw SealBroken(name: name(hook, tenantId)) }
        return String(decoding: try vault.open(sealed, as: name(hook, tenantId)).copy(), as: UTF8.self)
    }

    private static func name(_ hook: HookName, _ tenantId: String) -> String { "hook secret \(hook.rawValue) \(tenantId)" }
}

extension Transaction {
    /// Returns the hooks of a tenant; without hooks if nothing is stored.
    func hooks(of tenantId: String) throws -> HookSettings {
        let text = try queryOne("SELECT hooks FROM tenant_hooks WHERE tenant_id = $1", tenantId) { row in row.string(0) }
        guard let text else { return HookSettings(tenantId: tenantId) }
        let params = try HooksSet.Params(decoding: JSONText(text).root)
        var hooks: [HookName: Hook] = [:]
        hooks[.beforeCreate] = params.beforeCreate
        hooks[.beforeSignIn] = params.beforeSignIn
        hooks[.beforeSendMessage] = params.beforeSendMessage
        return HookSettings(tenantId: tenantId, hooks: hooks)
    }

    /// Replaces the hooks of a tenant.
    func setHooks(_ settings: HookSettings, at now: Int64) throws {
        guard !settings.hooks.isEmpty else { return try deleteHooks(of: settings.tenantId) }
        var object: JSONObject = [:]
        for (name, hook) in settings.hooks {
            var writer = JSONWriter()
            hook.write(to: &writer)
            object[name.rawValue] = try JSONValue(parsing: writer.bytes)
        }
        try execute(
            """
            INSERT INTO tenant_hooks (tenant_id, hooks, updated_at) VALUES ($1, $2, $3)
            ON CONFLICT (tenant_id) DO UPDATE SET hooks = excluded.hooks, updated_at = excluded.updated_at
            """, settings.tenantId, JSONValue.object(object).text, now)
    }

    func deleteHooks(of tenantId: String) throws { try execute("DELETE FROM tenant_hooks WHERE tenant_id = $1", tenantId) }
}
