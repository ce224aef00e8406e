import Glibc
import Platform
import Synchronization

/// Waits for writes to a store by any process.
///
/// Every write to a SQLite store goes through the log file next to it, which inotify(7) watches. The file is modified before the commit is
/// visible, so for some time after a modification the caller looks at the store often. Other stores cannot be watched; the caller looks at
/// regular intervals.
final class StoreWrites: Sendable {
    private struct Descriptors {
        var watcher: Int32 = -1
        /// The two ends of a pipe: a byte in it ends the wait.
        var bell: Int32 = -1
        var hammer: Int32 = -1
    }

    private let logFile: String?
    private let idlePause: Int32
    /// Opened by the first wait, so that a process without subscribers has none.
    private let opened = Mutex<Descriptors?>(nil)

    private static let oftenMilliseconds: Int32 = 5
    private static let oftenNanoseconds: UInt64 = 500_000_000
    private static let idleMilliseconds: Int32 = 1_000

    init(of store: Configuration.Store) {
        switch store {
        case .file(let path): (logFile, idlePause) = (path + "-wal", Self.idleMilliseconds)
        case .memory: (logFile, idlePause) = (nil, 20)
        default: (logFile, idlePause) = (nil, 250)
        }
    }

    private func open() -> Descriptors {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        let watcher = logFile == nil ? -1 : inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        return Descriptors(watcher: watcher, bell: ends[0], hammer: ends[1])
    }

    deinit {
        guard let own = opened.withLock({ $0 }) else { return }
        for descriptor in [own.bell, own.hammer, own.watcher] where descriptor >= 0 { close(descriptor) }
    }

    /// Ends the current wait, or the next one.
    func ring() {
        guard let hammer = opened.withLock({ $0?.hammer }) else { return }
        var byte: UInt8 = 1
        _ = write(hammer, &byte, 1)
    }

    /// Waits for a write, at most for one second.
    ///
    /// - Parameter lastWrite: The time of the last write that was noticed; updated by this function.
    func wait(_ lastWrite: inout UInt64) {
        let now = Monotonic.nanoseconds()
        guard let own = opened.withLock({ $0 }) else {
            // A write before this moment rang no bell: the caller looks once more.
            opened.withLock { $0 = open() }
            return
        }
        let (watcher, bell) = (own.watcher, own.bell)
        let pause = logFile != nil && watcher < 0 ? 20 : idlePause
        if let logFile, watcher >= 0 { inotify_add_watch(watcher, logFile, UInt32(IN_MODIFY)) }
        let isRecent = lastWrite > 0 && now - lastWrite < Self.oftenNanoseconds
        var awaited = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0), pollfd(fd: watcher, events: Int16(POLLIN), revents: 0)]
        if isRecent, watcher >= 0 {
            // Modifications do not end this pause, so that a busy store is not read without end.
            _ = poll(&awaited, 1, Self.oftenMilliseconds)
        } else {
            _ = poll(&awaited, watcher >= 0 ? 2 : 1, pause)
        }
        if drain(watcher, 4_096) { lastWrite = Monotonic.nanoseconds() }
        _ = drain(bell, 64)
    }

    private func drain(_ descriptor: Int32, _ size: Int) -> Bool {
        guard descriptor >= 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: size)
        var isFull = false
        while read(descriptor, &bytes, size) > 0 { isFull = true }
        return isFull
    }
}
