import ArgumentParser
import Glibc
import Mintmark
import Platform

/// Sleeps until somebody has written to a store.
///
/// Every write to a SQLite store goes through the log beside it, which the kernel watches (inotify(7)); watching a file opens nothing,
/// so SQLite's locks are left alone. A store elsewhere has to be looked at once a second.
final class StoreChanges: Sendable {
    private let logFile: String?
    private let watcher: Int32
    /// Both ends of a pipe whose other end is closed to wake whoever sleeps, for good.
    private let endRead: Int32
    private let endWrite: Int32
    /// Looked at no more often than this.
    private static let leastMilliseconds: Int32 = 1_000
    /// Looked at this often in any case: somebody may turn the clock.
    private static let mostMilliseconds: Int32 = 60_000

    /// - Throws: `ValidationError` if the system has no descriptors left.
    init(of store: Configuration.Store) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ValidationError("A pipe cannot be created: \(String(cString: strerror(errno))).") }
        (endRead, endWrite) = (ends[0], ends[1])
        if case .file(let path) = store {
            logFile = path + "-wal"
            watcher = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        } else {
            (logFile, watcher) = (nil, -1)
        }
    }

    /// Begins to watch. The store must be open, so that its log is there and stays.
    func begin() {
        if let logFile, watcher >= 0 { inotify_add_watch(watcher, logFile, UInt32(IN_MODIFY)) }
    }

    /// Ends every wait from now on. For signals.
    func end() { close(endWrite) }

    /// Returns when something was written, when `seconds` are over, or after a minute.
    ///
    /// - Returns: false once `end` was called.
    func wait(seconds: Int64?) -> Bool {
        let most = seconds.map { Int32(clamping: max($0, 0) * 1_000) } ?? Self.mostMilliseconds
        // What is written in quick succession is seen together.
        guard sleep(Self.leastMilliseconds, watching: false) else { return false }
        guard watcher >= 0, most > Self.leastMilliseconds else { return true }
        let isGoing = sleep(min(most, Self.mostMilliseconds) - Self.leastMilliseconds, watching: true)
        var events = [UInt8](repeating: 0, count: 4_096)
        while read(watcher, &events, events.count) > 0 {}
        return isGoing
    }

    private func sleep(_ milliseconds: Int32, watching: Bool) -> Bool {
        var awaited = [pollfd(fd: endRead, events: Int16(POLLIN), revents: 0)]
        if watching { awaited.append(pollfd(fd: watcher, events: Int16(POLLIN), revents: 0)) }
        _ = poll(&awaited, nfds_t(awaited.count), milliseconds)
        return awaited[0].revents == 0
    }
}
