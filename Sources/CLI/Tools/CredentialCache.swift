import Contract
import Crypto
import Glibc
import JSON
import Platform
import ServiceContext
import Storage
import Synchronization

/// Gives credentials to many callers with one exchange: threads of this process, and other processes that use the same store.
///
/// The credentials are stored encrypted in the store. Five minutes before they expire, they are renewed. The process that exchanges a
/// token first enters a lease. Until it is done, the others use the old credentials; if there are none, they wait for the result. The lease
/// of a process that no longer exists does not count. If the renewal fails for a temporary reason, the old credentials are used to their
/// end.
final class CredentialCache: Sendable {
    private let store: ToolStore
    private let request: CredentialRequest
    /// Held during an exchange, so that the threads of this process wait for one another without the store.
    private let exchanging = Mutex(())

    /// The remaining lifetime below which credentials are renewed, in seconds.
    static let margin: Int64 = 300
    /// The remaining lifetime below which old credentials are no longer used during a renewal and after a failed one, in seconds.
    private static let minimumSeconds: Int64 = 15
    /// The time for which credentials that expire soon are used without an attempt to renew them, in seconds: after a failed renewal, and
    /// if new credentials have such a short lifetime.
    private static let pauseSeconds: Int64 = 20
    /// The time after which the lease of an exchange ends, in seconds.
    private static let leaseSeconds: Int64 = 60
    /// Facts of the store with this prefix are cached credentials.
    private static let prefix = "local.credentials/"

    init(_ store: ToolStore, _ request: CredentialRequest) {
        self.store = store
        self.request = request
    }

    /// Returns credentials that are valid for at least five more minutes, or for less if they cannot be renewed at the moment.
    ///
    /// - Throws: `ToolFailure`.
    func credentials() throws -> AWSCredentials {
        try exchanging.withLock { _ in
            do { return try current() } catch { throw ToolFailure(error) }
        }
    }

    private func current() throws -> AWSCredentials {
        let name = Self.prefix + (try request.cacheName(store))
        let deadline = Monotonic.nanoseconds() + UInt64(2 * Self.leaseSeconds) * 1_000_000_000
        let database = store.services.context.database
        var wait: UInt32 = 10_000
        var refused: [UInt8]?
        while Monotonic.nanoseconds() < deadline {
            let entry = Entry(try database.read { try $0.storeFact(name) })
            if let entry, let cached = opened(entry, name), isFresh(entry) || entry.isWaiting(SystemClock().now) {
                if try isAccepted(cached) { return cached }
                refused = entry.sealed
            }
            let lease = Lease.own(until: SystemClock().now + Self.leaseSeconds)
            let (isMine, old) = try database.write { tx -> (Bool, Entry?) in
                try tx.lock([name])
                let entry = Entry(try tx.storeFact(name))
                if let other = entry?.lease, other.isActive(SystemClock().now) { return (false, nil) }
                let old = entry.flatMap { $0.sealed != refused && opened($0, name) != nil ? $0 : nil }
                // Another process may have finished since the read.
                if let old, isFresh(old) || old.isWaiting(SystemClock().now) { return (false, nil) }
                try tx.setStoreFact(name, Entry(sealed: old?.sealed, expiresAt: old?.expiresAt, lease: lease).text)
                return (true, old)
            }
            if isMine { return try exchanged(name, old) }
            usleep(wait)
            wait = min(wait * 2, 200_000)
        }
        // Credentials without the cache are better than none.
        return try request.exchange(store)
    }

    /// Exchanges a token and stores the result for the others.
    ///
    /// - Parameter old: The credentials to renew, if they are still valid.
    private func exchanged(_ name: String, _ old: Entry?) throws -> AWSCredentials {
        let database = store.services.context.database
        do {
            let fresh = try request.exchange(store)
            let sealed = store.services.context.vault.seal(SecretBytes(fresh.stored.bytes), as: name)
            let now = now
            try database.write { tx in
                try tx.lock([name])
                try tx.removeExpiredCredentials(Self.prefix, at: SystemClock().now, now)
                var entry = Entry(sealed: sealed, expiresAt: fresh.expiresAt, lease: nil)
                // Credentials with such a short lifetime are shared for a while, too.
                if !isFresh(entry) { entry.pausedUntil = SystemClock().now + Self.pauseSeconds }
                try tx.setStoreFact(name, entry.text)
            }
            return fresh
        } catch {
            guard let old, ToolFailure(error).isTemporary, let credentials = opened(old, name), (try? isAccepted(credentials)) == true
            else {
                _ = try? database.write { try $0.setStoreFact(name, nil) }
                throw error
            }
            let kept = Entry(sealed: old.sealed, expiresAt: old.expiresAt, lease: nil, pausedUntil: SystemClock().now + Self.pauseSeconds)
            _ = try? database.write { try $0.setStoreFact(name, kept.text) }
            return credentials
        }
    }

    /// The time by which the expiry is measured: that of AWS for its credentials, otherwise that of the store.
    private var now: Int64 { request.endpoint == nil ? store.now : SystemClock().now }

    /// Returns whether the store still accepts credentials that it has issued: they can have been revoked.
    private func isAccepted(_ cached: AWSCredentials) throws -> Bool {
        guard request.endpoint == nil else { return true }
        do { _ = try store.call("credentials.verify", ["sessionToken": .string(cached.sessionToken)]) } catch let failure as ToolFailure {
            if ["sessionTokenInvalid", "credentialsExpired", "credentialsRevoked"].contains(failure.code) { return false }
            throw failure
        }
        return true
    }

    /// Returns whether the credentials need no renewal yet.
    private func isFresh(_ entry: Entry) -> Bool { entry.expiresAt.map { $0 - now > Self.margin } ?? false }

    /// Returns the credentials of an entry, or `nil` if it has none or they expire now.
    private func opened(_ entry: Entry, _ name: String) -> AWSCredentials? {
        guard let sealed = entry.sealed, let expiresAt = entry.expiresAt, expiresAt - now > Self.minimumSeconds,
            let bytes = try? store.services.context.vault.open(sealed, as: name).copy(), let value = try? JSONValue(parsing: bytes),
            let credentials = AWSCredentials(value, accountId: value["accountId"]?.string)
        else { return nil }
        return credentials
    }
}

/// A cached entry in the store: encrypted credentials, and the lease of the process that obtains new ones.
private struct Entry {
    var sealed: [UInt8]?
    var expiresAt: Int64?
    var lease: Lease?
    /// The real time until which no renewal is attempted.
    var pausedUntil: Int64?

    init(sealed: [UInt8]?, expiresAt: Int64?, lease: Lease?, pausedUntil: Int64? = nil) {
        (self.sealed, self.expiresAt, self.lease, self.pausedUntil) = (sealed, expiresAt, lease, pausedUntil)
    }

    /// Returns whether another process renews the credentials at the moment, or no renewal is attempted yet.
    func isWaiting(_ now: Int64) -> Bool { lease?.isActive(now) ?? pausedUntil.map { now < $0 } ?? false }

    init?(_ text: String?) {
        guard let text, let value = try? JSONValue(parsing: text) else { return nil }
        sealed = value["sealed"]?.string.flatMap { Base64URL.decode($0) }
        expiresAt = value["expiresAt"]?.int
        lease = value["lease"].flatMap { Lease($0) }
        pausedUntil = value["pausedUntil"]?.int
    }

    var text: String {
        var object = JSONObject()
        object["sealed"] = sealed.map { .string(Base64URL.encode($0)) }
        object["expiresAt"] = expiresAt.map { .number(JSONNumber($0)) }
        object["lease"] = lease.map(\.value)
        object["pausedUntil"] = pausedUntil.map { .number(JSONNumber($0)) }
        return JSONValue.object(object).text
    }
}

/// The right of one process to obtain credentials, while others wait.
private struct Lease {
    /// The real time at which the lease ends, in seconds since 1970.
    let until: Int64
    let process: Int64
    let host: String

    static func own(until: Int64) -> Lease { Lease(until: until, process: Int64(getpid()), host: thisHost) }

    init(until: Int64, process: Int64, host: String) { (self.until, self.process, self.host) = (until, process, host) }

    init?(_ value: JSONValue) {
        guard let until = value["until"]?.int, let process = value["process"]?.int, let host = value["host"]?.string else { return nil }
        self.init(until: until, process: process, host: host)
    }

    var value: JSONValue {
        ["until": .number(JSONNumber(until)), "process": .number(JSONNumber(process)), "host": .string(host)]
    }

    func isActive(_ now: Int64) -> Bool {
        guard now < until else { return false }
        guard host == Self.thisHost, let process = pid_t(exactly: process), process != getpid() else { return host != Self.thisHost }
        return kill(process, 0) == 0 || errno != ESRCH
    }

    private static let thisHost: String = {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}

extension Transaction {
    /// Deletes cached credentials that have expired by both clocks, and leases that have ended.
    fileprivate func removeExpiredCredentials(_ prefix: String, at realTime: Int64, _ storeTime: Int64) throws {
        let rows = try query("SELECT name, value FROM store_fact WHERE name LIKE 'local.credentials/%'") { ($0.string(0), $0.string(1)) }
        for (name, text) in rows where name.hasPrefix(prefix) {
            let entry = Entry(text)
            let isExpired = entry?.expiresAt.map { $0 < min(realTime, storeTime) } ?? false
            let isAbandoned = entry?.sealed == nil && entry?.lease.map { $0.until < realTime } ?? true
            if isExpired || isAbandoned { try setStoreFact(name, nil) }
        }
    }
}
