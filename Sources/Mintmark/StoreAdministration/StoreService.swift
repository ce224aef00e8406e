import Contract
import ServiceContext
import Synchronization

/// The `store.*` methods.
public final class StoreService: Sendable {
    let context: ServiceContext
    /// The file with the store's master key, or `nil` if the key was configured or is only in memory.
    let keyFile: MasterKeyFile?
    /// Whether the master key is stored outside this process. Locked during `store.rekey`, so that this process replaces one key at a time.
    let hasOutsideKey: Mutex<Bool>

    /// - Parameter hasOwnKey: Whether the master key was configured.
    public init(_ context: ServiceContext, keyFile: MasterKeyFile?, hasOwnKey: Bool) {
        self.context = context
        self.keyFile = keyFile
        hasOutsideKey = Mutex(hasOwnKey || keyFile != nil)
    }
}

extension StoreService: StoreHandlers {}
