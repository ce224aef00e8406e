import Arguments
import Glibc
import Mintmark
import Platform

/// Waits until a store changes.
///
/// Every write to a SQLite store goes through the log file next to it, which inotify(7) watches. Watching does not open the file, so
/// SQLite's locks are not affected. Any other store is queried once per second.
final class StoreChanges: Sendable {
    private let logFile: String?
    private let watcher: Int32
    /// The two ends of a pipe. Closing the write end permanently wakes all waiting threads.
    private let endRead: Int32
    private let endWrite: Int32
    /// The minimum time between two checks.
    private static let leastMilliseconds: Int32 = 1_000
    /// The maximum time between two checks, because the clock of the store can be changed.
    private static let mostMilliseconds: Int32 = 60_000

    /// - Throws: `ValidationError` if no file descriptors are available.
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

    /// Begins to watch. The store must be open, so that its log file exists and is not deleted.
    func begin() {
        if let logFile, watcher >= 0 { inotify_add_watch(watcher, logFile, UInt32(IN_MODIFY)) }
    }

    /// Ends the current wait and all later ones. Safe to call in signal handlers.
    func end() { close(endWrite) }

    /// Returns after a write, after `seconds`, or after one minute.
    ///
    /// - Returns: `false` after a call of `end`.
    func wait(seconds: Int64?) -> Bool {
        let most = seconds.map { Int32(clamping: max($0, 0) * 1_000) } ?? Self.mostMilliseconds
        // Combines writes in quick succession.
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
