/// Why the store did not do what it was asked. Nothing of the transaction was kept, except where it says so.
public enum StoreError: Error, Hashable, Sendable {
    /// Another process kept the store locked for too long.
    case busy
    case readOnly(reason: String)
    /// The disk, the quota or the file size limit is reached.
    case full
    case corrupt(reason: String)
    case tooNew(found: Int, supported: Int)
    case tooOld(found: Int, needed: Int)
    case notAStore(path: String)
    case cannotOpen(path: String, reason: String)
    /// Whether the change was kept cannot be found out.
    case outcomeUnknown
    /// A fault in this program: a statement that the database refuses.
    case failed(reason: String)
    case closed
}
