import Accounts
import Contract
import JSON
import Storage

extension AccountService {
    /// Imports accounts, some hundreds in one transaction. What has something wrong is passed over.
    ///
    /// - Throws: `TenantNotFound`, `InvalidHashParameters`, `ImportFileUnreadable`; `RequestCancelled` and what the store throws, as long as
    ///   nothing was imported. Then the answer says why it stopped.
    /// - Source: firebase.md 1.1 to 1.3, accounts:batchCreate.
    public func `import`(_ request: AccountImport.Params, _ call: any CallContext) throws -> AccountImport.Result {
        let tenant = try surroundings.database.read { try catalogue.tenant(request.tenantId, in: $0) }
        var run = ImportRun(
            surroundings: surroundings, tenant: tenant, how: try request.hash.map { try PasswordHash($0) }, onExisting: request.onExisting,
            isDryRun: request.dryRun)
        var source = try ImportSource(request.source, request.format, from: request.from)
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

    /// What is said of an end before the end; nil for what is a fault of this program.
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
