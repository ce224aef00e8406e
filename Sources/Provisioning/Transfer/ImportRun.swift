import Accounts
import Contract
import JSON
import ServiceContext
import Storage

/// The state of an import, which processes chunks of accounts, one transaction each.
struct ImportRun {
    let context: AccountsContext
    let tenant: TenantRecord
    let how: PasswordHash?
    let onExisting: AccountImport.Params.OnExisting
    var answer: AccountImport.Result
    private var names = ImportedNames()

    /// The number of failures at which the import stops.
    static let mostFailures = 1000
    private static let mostViolations = 20

    init(
        context: AccountsContext, tenant: TenantRecord, how: PasswordHash?, onExisting: AccountImport.Params.OnExisting, isDryRun: Bool
    ) {
        self.context = context
        self.tenant = tenant
        self.how = how
        self.onExisting = onExisting
        answer = AccountImport.Result(
            imported: 0, replaced: 0, skipped: 0, failed: 0, failures: [], nextLine: 1, completed: false, dryRun: isDryRun)
    }

    /// Whether the import has stored any account.
    var hasImported: Bool { !answer.dryRun && answer.imported + answer.replaced > 0 }

    /// The parameters of the `$/progress` notification.
    var progress: JSONValue {
        .object([
            "nextLine": .number(JSONNumber(answer.nextLine)), "imported": .number(JSONNumber(answer.imported)),
            "replaced": .number(JSONNumber(answer.replaced)), "skipped": .number(JSONNumber(answer.skipped)),
            "failed": .number(JSONNumber(answer.failed)),
        ])
    }

    /// An account with the decision of how to import it.
    private struct Planned {
        let draft: ImportDraft
        let decision: ImportRule.Decision
    }

    /// Imports the valid accounts of a chunk. If this function throws, nothing of the chunk was imported.
    mutating func take(_ chunk: [ImportSource.Entry], _ call: any CallContext) throws {
        let now = context.clock.now
        names.makeRoom()
        var failures: [ImportFailure] = []
        let drafts = chunk.compactMap { draft($0, &failures, at: now) }
        let plan = try settle(drafts, call, at: now)
        for planned in plan {
            switch planned.decision {
            case .insert: answer.imported += 1
            case .replace: answer.replaced += 1
            case .skip: answer.skipped += 1
            case .refuse(let violations): failures.append(failure(planned.draft, violations))
            }
        }
        answer.failed += Int64(failures.count)
        answer.failures += failures.sorted { $0.line < $1.line }
    }

    private mutating func draft(_ entry: ImportSource.Entry, _ failures: inout [ImportFailure], at now: Int64) -> ImportDraft? {
        switch entry.content {
        case .failure(let flaw):
            let violations = Array(flaw.violations.prefix(Self.mostViolations))
            failures.append(ImportFailure(line: entry.line, accountId: flaw.accountId, violations: violations))
            return nil
        case .success(let given):
            var check = ImportCheck(tenant, how, now: now)
            guard let draft = check.draft(given, line: entry.line, newId: context.random.uuid()) else {
                let violations = Array(check.violations.prefix(Self.mostViolations))
                failures.append(ImportFailure(line: entry.line, accountId: given.accountId, violations: violations))
                return nil
            }
            let seen = names.note(draft)
            guard seen.isEmpty else {
                let violations = seen.map {
                    Violation(
                        pointer: $0.pointer, rule: "duplicate",
                        message: "Line \($0.line) already contains the same value. Remove one of the two.")
                }
                failures.append(failure(draft, violations))
                return nil
            }
            return draft
        }
    }

    private func failure(_ draft: ImportDraft, _ violations: [Violation]) -> ImportFailure {
        ImportFailure(
            line: draft.line, accountId: draft.hasOwnId ? draft.account.id : nil, violations: Array(violations.prefix(Self.mostViolations)))
    }

    /// Decides how to import each account, encrypts the secrets outside of the transaction, and writes if the decisions still hold.
    /// Otherwise starts again.
    private func settle(_ drafts: [ImportDraft], _ call: any CallContext, at now: Int64) throws -> [Planned] {
        while true {
            let plan = try context.database.read { try decide(drafts, in: $0) }
            if answer.dryRun || !plan.contains(where: \.decision.writes) { return plan }
            let sealed = plan.map { planned -> (account: AccountRecord, factors: [FactorRecord])? in
                switch planned.decision {
                case .insert: planned.draft.sealed(as: planned.draft.account.id, context)
                case .replace(let id): planned.draft.sealed(as: id, context)
                case .skip, .refuse: nil
                }
            }
            let ids = sealed.compactMap { $0?.account.id }
            let isWritten = try context.database.write { tx in
                try tx.lock(ids)
                guard try tx.tenant(tenant.id) != nil else { throw TenantNotFound(tenantId: tenant.id) }
                guard try decide(drafts, in: tx).map(\.decision) == plan.map(\.decision) else { return false }
                for (planned, sealed) in zip(plan, sealed) {
                    guard let (account, factors) = sealed else { continue }
                    let logins = planned.draft.logins.map(\.record)
                    if planned.decision == .insert {
                        try tx.insert(account, logins, factors)
                    } else {
                        try tx.replace(with: account, logins, factors)
                    }
                    try tx.setOwner(planned.draft.ownerId, of: account)
                    try tx.add(planned.draft.passkeys, of: account.id)
                    do { try tx.setPhoneNumber(planned.draft.phoneNumber, of: account) } catch is PhoneNumberInUse {
                        throw SerializationConflict()
                    }
                }
                var event = AuditEvent(AccountImport.info.name, call, tenant: tenant.id)
                event.details["accounts"] = .array(ids.map { .string($0) })
                try context.audit.record(event, at: now, in: tx)
                return true
            }
            if isWritten { return plan }
        }
    }

    private func decide(_ drafts: [ImportDraft], in tx: Transaction) throws -> [Planned] {
        try drafts.map { Planned(draft: $0, decision: ImportRule.decide($0, try tx.importFacts($0), onExisting)) }
    }
}
