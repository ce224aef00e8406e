import Accounts
import Contract
import JSON
import Storage

extension AccountService {
    /// Imports accounts, up to 200 per transaction. Skips accounts that are not valid and reports them as failures.
    ///
    /// - Throws: `TenantNotFound`, `InvalidHashParameters`, `ImportFileUnreadable`. If nothing was imported yet, also `RequestCancelled`
    ///   and the errors of the store; otherwise the result contains the reason the import stopped.
    public func `import`(_ request: AccountImport.Params, _ call: any CallContext) throws -> AccountImport.Result {
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        var run = ImportRun(
            context: context, tenant: tenant, how: try request.hash.map { try PasswordHash.imported($0) }, onExisting: request.onExisting,
            isDryRun: request.dryRun)
        var source = try ImportSource(request.source, request.format, from: request.from)
        source.hasNumberAttribute = tenant.attributes.contains { $0.name == "phoneNumber" }
        run.answer.nextLine = source.nextLine
        while true {
            do {
                if call.isCancelled { throw RequestCancelled() }
                guard let chunk = try source.chunk() else { break }
                try run.take(chunk, call)
            } catch {
                guard run.hasImported, let stop = Self.stop(error) else { throw error }
                run.answer.stopped = stop
                return run.answer
            }
            run.answer.nextLine = source.nextLine
            call.progress(run.progress)
            if run.answer.failed >= ImportRun.mostFailures {
                run.answer.stopped = ImportStop(
                    type: "tooManyFailures",
                    message: "\(run.answer.failed) accounts are not valid. Correct them, or continue from nextLine.")
                return run.answer
            }
        }
        run.answer.nextLine = source.nextLine
        run.answer.completed = true
        return run.answer
    }

    /// Returns the reason an import stopped early, or `nil` if the error is an internal error.
    private static func stop(_ error: any Error) -> ImportStop? {
        let again = "Accounts imported so far are kept. Continue from nextLine, or import everything again; nothing is imported twice."
        switch error {
        case is RequestCancelled: return ImportStop(type: "requestCancelled", message: "The request was canceled. \(again)")
        case let error as ImportFileUnreadable: return ImportStop(type: ImportFileUnreadable.type, message: "\(error.message) \(again)")
        case let error as StoreError:
            let type: String? =
                switch error {
                case .full: StoreFull.type
                case .busy, .closed: StoreBusy.type
                case .readOnly: StoreReadOnly.type
                case .unreachable, .cannotOpen: StoreCannotOpen.type
                case .outcomeUnknown: OutcomeUnknown.type
                case .corrupt, .tooNew, .tooOld, .notAStore, .failed: nil
                }
            return type.map { ImportStop(type: $0, message: "The import stopped: \(error). \(again)") }
        default: return nil
        }
    }
}
