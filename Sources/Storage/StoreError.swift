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
        case .busy: "another process holds the store locked; try again in a moment"
        case .readOnly(let reason):
            "the store cannot be written: \(reason); check who owns the file and its folder, and whether the disk is mounted read-only"
        case .full: "there is no room left to write; free some, or raise the quota or the file size limit"
        case .corrupt(let reason): "the store does not read as it was written: \(reason); keep a copy and restore a backup"
        case .tooNew(let found, let supported):
            "the store has schema version \(found), and this program knows versions up to \(supported + 1); use the newer program"
        case .tooOld(let found, let needed): "the store has schema version \(found), and this program needs \(needed); migrate it"
        case .notAStore(let path): "\(path) is not a store of this program; it was left as it is, name another file"
        case .cannotOpen(let path, let reason): "\(path) cannot be opened: \(reason)"
        case .unreachable(let path, let reason): "\(path) cannot be reached: \(reason); try again in a moment"
        case .outcomeUnknown:
            "the connection was lost while committing, and whether the change was kept cannot be found out; look before you repeat it"
        case .failed(let reason): "the database refused what this program asked: \(reason)"
        case .closed: "the store is closed"
        }
    }
}
