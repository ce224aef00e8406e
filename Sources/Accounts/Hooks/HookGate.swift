import Contract
import JSON
import ServiceContext
import Storage
import Synchronization

/// The hooks of one call: runs its transaction, asks its hooks outside of the transaction, and keeps their decisions.
package final class HookGate: Sendable {
    private struct State {
        var decisions: [String: HookDecision] = [:]
        /// The account that a hook has disabled in the current run. The account is stored; the call then fails.
        var disabledAccount: String?
    }

    private let context: AccountsContext
    private let state = Mutex(State())
    /// Whether the call asks no hooks.
    private let isOff: Bool
    /// The call, which can be canceled while a hook is asked.
    private let call: (any CallContext)?
    /// What only functions in place of hooks get about the operation.
    private let details: JSONObject

    /// The maximum number of times that a transaction is run again for a hook.
    private static let mostQuestions = 6

    init(_ context: AccountsContext, isOff: Bool = false, for call: (any CallContext)? = nil, details: JSONObject = [:]) {
        self.context = context
        self.details = details
        self.isOff = isOff
        self.call = call
    }

    /// Runs a write transaction that may need decisions of hooks. Nothing is stored before every hook has decided.
    ///
    /// - Throws: `RefusedByHook`, `HookFailed`, `HooksNotOffered`; `AccountDisabled` if a hook disabled the account, which is stored.
    package func write<R>(isolation: Isolation = .readCommitted, _ body: (Transaction) throws -> R) throws -> R {
        for _ in 0..<Self.mostQuestions {
            do {
                let result = try context.database.write(isolation: isolation) { tx in
                    state.withLock { $0.disabledAccount = nil }
                    return try body(tx)
                }
                if let id = state.withLock({ $0.disabledAccount }) { throw AccountDisabled(accountId: id) }
                return result
            } catch let question as HookQuestion {
                let decision = try context.hooks.decide(question, context.service) { [call] in call?.isCancelled ?? false }
                state.withLock { $0.decisions[question.key] = decision }
            }
        }
        throw StoreBusy(retryAfterSeconds: 1)
    }

    /// Whether a hook has disabled the account in this run of the transaction.
    func hasDisabled(_ accountId: String) -> Bool { state.withLock { $0.disabledAccount == accountId } }

    /// Records that a hook has disabled an account in this run of the transaction.
    func noteDisabled(_ accountId: String) { state.withLock { $0.disabledAccount = accountId } }

    /// - Throws: `HookQuestion` if the hook has not decided yet.
    func decision(of hook: HookName, in tenantId: String, _ tx: Transaction, _ params: () throws -> JSONObject) throws
        -> HookDecision?
    {
        guard !isOff, let asked = try asked(hook, of: tenantId, in: tx, params) else { return nil }
        var all: JSONObject = ["tenantId": .string(tenantId)]
        for (name, value) in try params().members { all[name] = value }
        let question = HookQuestion(hook: hook, asked: asked, tenantId: tenantId, params: all, details: details)
        guard let known = state.withLock({ $0.decisions[question.key] }) else { throw question }
        return known
    }

    /// Returns who decides: the hook of the tenant, otherwise a function in its place, if there is one.
    private func asked(
        _ hook: HookName, of tenantId: String, in tx: Transaction, _ params: () throws -> JSONObject
    ) throws -> HookQuestion.Asked? {
        if let settings = try context.hooks.settings(of: tenantId, in: tx).hooks[hook] { return .hook(settings) }
        return try context.hooks.function(for: hook, of: tenantId, in: tx, params).map { .function($0) }
    }

    /// The account as hooks get it.
    func json(_ account: Account) throws -> JSONValue {
        var writer = JSONWriter()
        account.write(to: &writer)
        return try JSONValue(parsing: writer.bytes)
    }

    /// Lets the hook `beforeCreate` decide about an account before it is inserted.
    ///
    /// - Parameter provider: How the user signs in, as in `SignInProof.provider`.
    func decideCreation(
        of account: inout AccountRecord, _ tenant: TenantRecord, provider: String, by method: String, in tx: Transaction
    ) throws {
        let before = account
        let decision = try decision(of: .beforeCreate, in: tenant.id, tx) {
            ["account": try json(before.answer([])), "method": .string(method), "provider": .string(provider)]
        }
        guard let decision else { return }
        try decision.apply(to: &account, of: tenant, by: .beforeCreate, at: account.updatedAt)
        if account.isDisabled { noteDisabled(before.id) }
    }

    /// Lets the hook `beforeSendMessage` decide about a message with a code. A decoy flow asks too, so that its responses take as long.
    func decide(about message: HookMessage, of tenant: TenantRecord, in tx: Transaction) throws {
        _ = try decision(of: .beforeSendMessage, in: tenant.id, tx) { ["message": .object(message.object)] }
    }
}
