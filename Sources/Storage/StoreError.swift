/// The reason an operation on the store failed. The transaction was rolled back, except for `outcomeUnknown`.
public enum StoreError: Error, Hashable, Sendable {
    /// Another process held a lock on the store beyond the time limit.
    case busy
    case readOnly(reason: String)
    /// The disk, the quota or the file size limit is exhausted.
    case full
    case corrupt(reason: String)
    case tooNew(found: Int, supported: Int)
    case tooOld(found: Int, needed: Int)
    case notAStore(path: String)
    case cannotOpen(path: String, reason: String)
    /// The server is not reachable, or the connection was lost before the commit was sent. The server may be available again shortly.
    case unreachable(path: String, reason: String)
    /// It is unknown whether the change was committed.
    case outcomeUnknown
    /// A defect in this program: the database rejected a statement.
    case failed(reason: String)
    case closed
}

extension StoreError: CustomStringConvertible {
    /// The problem and a possible remedy.
    public var description: String {
        switch self {
        case .busy: "another process has locked the store; try again in a moment"
        case .readOnly(let reason):
            "the store cannot be written: \(reason); check the owner of the file and its directory, and whether the disk is mounted read-only"
        case .full: "the disk is full; free some space, or increase the quota or the file size limit"
        case .corrupt(let reason): "the content of the store is not valid: \(reason); copy the store and restore a backup"
        case .tooNew(let found, let supported):
            "the store has schema version \(found), and this program supports versions up to \(supported + 1); use a newer program"
        case .tooOld(let found, let needed):
            "the store has schema version \(found), and this program requires version \(needed); migrate it"
        case .notAStore(let path): "\(path) is not a store of this program; it was not changed, use another file"
        case .cannotOpen(let path, let reason): "\(path) cannot be opened: \(reason)"
        case .unreachable(let path, let reason): "\(path) is not reachable: \(reason); try again in a moment"
        case .outcomeUnknown:
            "the connection was lost during the commit, and it is unknown whether the change was committed; check before you retry"
        case .failed(let reason): "the database rejected a statement of this program: \(reason)"
        case .closed: "the store is closed"
        }
    }
}
