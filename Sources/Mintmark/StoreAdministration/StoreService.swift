import Contract
import ServiceContext
import Synchronization

/// The store itself: `store.*`.
public final class StoreService: Sendable {
    let surroundings: ServiceContext
    /// The file beside the store that holds its master key; nil where the key was given, or is nowhere.
    let keyFile: MasterKeyFile?
    /// Whether somebody outside has the master key. Held while the store is put under another one: one at a time in this process.
    let hasOutsideKey: Mutex<Bool>

    /// - Parameter hasOwnKey: whether the process was given the master key.
    public init(_ surroundings: ServiceContext, keyFile: MasterKeyFile?, hasOwnKey: Bool) {
        self.surroundings = surroundings
        self.keyFile = keyFile
        hasOutsideKey = Mutex(hasOwnKey || keyFile != nil)
    }
}

extension StoreService: StoreHandlers {}
