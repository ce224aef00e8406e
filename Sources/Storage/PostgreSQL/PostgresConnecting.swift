import CPostgres
import Platform

/// Opens connections.
struct PostgresConnecting: Sendable {
    let address: PostgresAddress
    let hasSeveralHosts: Bool
    /// The time limit for waiting for a lock of another transaction, or for a free connection.
    let waitMilliseconds: Int32
    let epochs = StoreEpoch()

    /// The time limit for one statement on the server.
    static let statementMilliseconds: Int32 = 30_000
    private static let oldestServer = 140_000

    /// - Throws: `StoreError.cannotOpen` if libpq is not installed or cannot parse the URI.
    init(_ address: PostgresAddress, waitMilliseconds: Int32) throws(StoreError) {
        try PostgresLibrary.load(for: address)
        self.address = address
        self.waitMilliseconds = waitMilliseconds
        hasSeveralHosts = try PostgresLibrary.hasSeveralHosts(address)
        // The error message of libpq would quote the port, which may be part of a password.
        guard try PostgresLibrary.hasNumericPorts(address) else {
            throw .cannotOpen(
                path: address.description,
                reason: "the port is not a number; check for a missing host, or a / in the password that is not written as %2F")
        }
    }

    /// - Parameter name: The name of the connection.
    /// - Throws: `PostgresFailure`.
    func connect(name: String) throws -> PostgresConnection {
        // The URI overrides settings that precede it, but not settings that follow it.
        var settings = [
            ("fallback_application_name", "mintmark"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "5000"),
        ]
        if hasSeveralHosts { settings.append(("target_session_attrs", "read-write")) }
        settings += [("dbname", address.uri), ("client_encoding", "UTF8")]
        guard let handle = Self.start(settings) else {
            throw PostgresFailure(.none, .cannotOpen(path: address.description, reason: "no memory is available for a connection"))
        }
        let connection = PostgresConnection(handle, name: name, address: address, epochs: epochs, waitMilliseconds: waitMilliseconds)
        try finish(handle)
        try checkServer(handle)
        if let pooled = try poolerSettings(connection, handle) { connection.usePooler(pooled) } else { try configure(connection) }
        return connection
    }

    private static func start(_ settings: [(String, String)]) -> OpaquePointer? {
        let texts = settings.map { (Array($0.0.utf8CString), Array($0.1.utf8CString)) }
        return withPointers(texts.map(\.0)) { keywords in withPointers(texts.map(\.1)) { pq_connect_start(keywords, $0) } }
    }

    /// Calls `body` with a null-terminated array of the addresses of the texts.
    private static func withPointers<R>(_ texts: [[CChar]], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
        let all = texts.flatMap { $0 }
        return all.withUnsafeBufferPointer { all in
            var pointers: [UnsafePointer<CChar>?] = []
            var place = all.baseAddress!
            for text in texts {
                pointers.append(place)
                place += text.count
            }
            return (pointers + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
        }
    }

    private func finish(_ handle: OpaquePointer) throws {
        // libpq tries several hosts one after the other.
        let deadline = Monotonic.nanoseconds() + UInt64(max(waitMilliseconds, 1_000)) * (hasSeveralHosts ? 6_000_000 : 2_000_000)
        var isInTime = true
        // libpq begins by writing, unless it has failed immediately.
        var next = pq_is_connected(handle) ? PQ_POLLING_WRITING : PQ_POLLING_FAILED
        while isInTime {
            switch next {
            case PQ_POLLING_OK: return
            case PQ_POLLING_FAILED:
                throw PostgresFailure.connecting(String(cString: pq_error_message(handle)), address)
            default:
                isInTime = Descriptor.wait(pq_socket(handle), for: next == PQ_POLLING_READING ? .reading : .writing, until: deadline)
                next = pq_connect_poll(handle)
            }
        }
        throw PostgresFailure(.none, .unreachable(path: address.description, reason: "the server does not respond"))
    }

    private func checkServer(_ handle: OpaquePointer) throws {
        let version = Int(pq_server_version(handle))
        let encoding = pq_parameter_status(handle, "server_encoding").map { String(cString: $0) } ?? "unknown"
        var reason: String?
        if version < Self.oldestServer { reason = "PostgreSQL 14 or later is required; this is version \(version / 10_000)" }
        if encoding != "UTF8" { reason = "the encoding of the database is \(encoding); UTF8 is required (createdb -E UTF8)" }
        if let reason { throw PostgresFailure(.none, .cannotOpen(path: address.description, reason: reason)) }
    }

    /// Returns the settings of each transaction if the connection goes through a connection pooler, and `nil` if it ends at the server.
    ///
    /// A pooler (such as PgBouncer with `pool_mode = transaction`) assigns a server connection to each transaction. Settings, prepared
    /// statements and `LISTEN` of a session would then reach the transactions of other clients. A pooler is recognized by the number of the
    /// server process: it names one of its own, because it handles cancel requests itself.
    private func poolerSettings(_ connection: PostgresConnection, _ handle: OpaquePointer) throws -> String? {
        let found = try connection.executeFirst(
            "SELECT CAST(pg_backend_pid() AS TEXT), CAST(current_setting('synchronous_commit') AS TEXT)")
        guard found.rowCount == 1, found.string(0) != String(pq_backend_process(handle)) else { return nil }
        return "SET LOCAL lock_timeout = \(waitMilliseconds); SET LOCAL statement_timeout = \(Self.statementMilliseconds); "
            + "SET LOCAL idle_in_transaction_session_timeout = 60000; SET LOCAL client_min_messages = warning; "
            + (found.string(1) == "off" ? "SET LOCAL synchronous_commit = on; " : "")
    }

    private func configure(_ connection: PostgresConnection) throws {
        try connection.execute(
            """
            SET lock_timeout = \(waitMilliseconds); SET statement_timeout = \(Self.statementMilliseconds);
            SET idle_in_transaction_session_timeout = 60000; SET client_min_messages = warning; SET standard_conforming_strings = on;
            SELECT set_config('synchronous_commit', 'on', FALSE) WHERE current_setting('synchronous_commit') = 'off'
            """)
        // A standby server and some proxies reject LISTEN. The epoch is then read again at a fixed interval.
        do { try connection.execute("LISTEN mintmark_epoch") } catch { connection.forgetFailure() }
    }
}
