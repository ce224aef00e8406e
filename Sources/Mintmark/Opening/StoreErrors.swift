import Contract
import ServiceContext
import Storage

/// Converts errors of the store and the vault, whose modules cannot use the contract, to contract errors. Returns `nil` for other errors.
public func contractError(_ error: any Error) -> (any ContractError)? {
    switch error {
    case let error as any ContractError: return error
    case let error as StoreError: return contractError(error)
    case let error as SealBroken: return StoreCorrupt(reason: "the encrypted value \(error.name) cannot be decrypted")
    default: return nil
    }
}

private func contractError(_ error: StoreError) -> (any ContractError)? {
    switch error {
    case .busy: StoreBusy()
    case .readOnly(let reason): StoreReadOnly(reason: reason)
    case .full: StoreFull()
    case .corrupt(let reason): StoreCorrupt(reason: reason)
    case .tooNew(let found, let supported): StoreTooNew(found: Int64(found), supported: Int64(supported))
    case .tooOld(let found, let needed): StoreTooOld(found: Int64(found), needed: Int64(needed))
    case .notAStore(let path): NotAStore(path: path)
    case .cannotOpen(let path, let reason): StoreCannotOpen(path: path, reason: reason)
    case .unreachable(let path, let reason):
        StoreCannotOpen(path: path, reason: "\(reason). Check that the server is running; each request tries again", retryAfterSeconds: 1)
    case .outcomeUnknown: OutcomeUnknown()
    case .closed: StoreBusy()
    case .failed: nil
    }
}
