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
    /// The server is not there, or went away before it was told to commit. It may be back in a moment.
    case unreachable(path: String, reason: String)
    /// Whether the change was kept cannot be found out.
    case outcomeUnknown
    /// A fault in this program: a statement that the database refuses.
    case failed(reason: String)
    case closed
}

extension StoreError: CustomStringConvertible {
    /// What happened, and what a person can do about it.
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
