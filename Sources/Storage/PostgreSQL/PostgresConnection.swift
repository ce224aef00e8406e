import CPostgres
import Glibc
import Platform

/// A connection to a PostgreSQL server, with its prepared statements. Used by one thread at a time.
final class PostgresConnection: OwnedByOneThread {
    /// The unique name of the connection, which it writes into the store.
    let name: String
    let address: PostgresAddress
    /// The error that has made the open transaction unusable, or `nil`.
    private(set) var failure: PostgresFailure?
    let epochs: StoreEpoch
    var transaction = PostgresTransactionState()
    /// The mark that the last commit inserted.
    var lastMark: String?
    private let handle: OpaquePointer
    private let waitMilliseconds: Int32
    private var statements: [UnsafePointer<UInt8>: PostgresStatement] = [:]
    private var isClosed = false
    /// The settings that each transaction begins with, if the connection goes through a connection pooler, which may give every transaction
    /// another connection to the server. Nothing then remains on the server after a transaction.
    private(set) var transactionSettings: String?
    private let warnings = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// - Parameter handle: A connection that `PostgresConnecting` has opened.
    init(_ handle: OpaquePointer, name: String, address: PostgresAddress, epochs: StoreEpoch, waitMilliseconds: Int32) {
        self.handle = handle
        self.name = name
        self.address = address
        self.epochs = epochs
        self.waitMilliseconds = waitMilliseconds
        warnings.initialize(to: 0)
        pq_count_warnings(handle, warnings)
    }

    deinit {
        close()
        warnings.deallocate()
    }

    func usePooler(_ transactionSettings: String) { self.transactionSettings = transactionSettings }

    /// The number of warnings without a class of their own that the server has sent.
    var warningCount: Int32 { warnings.pointee }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        statements.removeAll()
        pq_finish(handle)
    }

    /// Whether the connection can be used for another transaction.
    var isUsable: Bool { !isClosed && pq_is_connected(handle) && pq_transaction_status(handle) == PQ_IDLE }

    /// Returns whether another process has advanced the store's epoch since the last call. Reads notifications that have arrived; never
    /// blocks.
    func hasBeenNotified() -> Bool { !isClosed && pq_take_notifications(handle) > 0 }

    /// Clears the failure before the next transaction.
    func forgetFailure() { failure = nil }

    // MARK: Statements

    /// Runs statements without parameters whose result rows are not needed.
    ///
    /// - Throws: `PostgresFailure`, which is also stored in `failure`.
    @discardableResult
    func execute(_ text: String) throws -> PostgresResult { try answer(sent: !isClosed && pq_send_query(handle, text)) }

    /// Runs the first statement of a transaction. A connection pooler delays it until a connection to the server is free. The time limit is
    /// shorter than that of other statements, because the server has nothing to compute, and longer than that of a lock, because many
    /// transactions can be waiting in front of this one.
    ///
    /// - Throws: `PostgresFailure`, which is also stored in `failure`.
    @discardableResult
    func executeFirst(_ text: String) throws -> PostgresResult {
        try answer(sent: !isClosed && pq_send_query(handle, text), within: 2 * waitMilliseconds)
    }

    /// Runs a prepared statement.
    ///
    /// - Throws: `StoreError`. An error of PostgreSQL is also stored in `failure`.
    func run(_ sql: SQL, _ values: [any SQLValue]) throws -> PostgresResult {
        // PostgreSQL rejects all further statements of a transaction in which an error has occurred.
        if let failure { throw failure.error }
        do {
            let parameters = try PostgresParameters(values)
            if transactionSettings != nil { return try runUnprepared(sql, parameters) }
            let statement = try prepared(sql, for: parameters)
            try statement.check(parameters, sql)
            return try answer(
                sent: parameters.withPointers { pq_send_prepared(handle, statement.name, Int32(parameters.count), $0, $1) })
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Runs a statement and keeps nothing on the server: behind a pooler, the next transaction may use another connection to the server.
    private func runUnprepared(_ sql: SQL, _ parameters: PostgresParameters) throws -> PostgresResult {
        let count = sql.parameterCount
        guard count == parameters.count else { throw wrongCount(sql, count, parameters.count) }
        return try answer(
            sent: !isClosed
                && parameters.withPointers {
                    pq_send_parameters(handle, sql.text.description, Int32(count), parameters.types, $0, $1)
                })
    }

    private func prepared(_ sql: SQL, for parameters: PostgresParameters) throws -> PostgresStatement {
        if isClosed { throw keep(PostgresFailure(.connectAnew, .closed)) }
        if let known = statements[sql.text.utf8Start] {
            guard known.types.count == parameters.count else { throw wrongCount(sql, known.types.count, parameters.count) }
            return known
        }
        let count = sql.parameterCount
        guard count == parameters.count else { throw wrongCount(sql, count, parameters.count) }
        let name = "s\(statements.count)"
        try answer(sent: pq_send_prepare(handle, name, sql.text.description, Int32(count), parameters.types))
        var types = parameters.types
        if types.contains(PQ_TYPE_UNSPECIFIED) {
            types = try answer(sent: pq_send_describe(handle, name)).parameterTypes
        }
        let fresh = PostgresStatement(name: name, types: types)
        statements[sql.text.utf8Start] = fresh
        return fresh
    }

    /// Runs a statement once for each of `rows`, without caching it. The text contains a table name, so it cannot be a literal.
    ///
    /// - Returns: The result of the last run, or `nil` if `rows` is empty.
    func runOnce(_ text: String, _ rows: [[any SQLValue]]) throws -> PostgresResult? {
        guard let first = rows.first else { return nil }
        if let failure { throw failure.error }
        do {
            let unspecified = [pq_oid](repeating: PQ_TYPE_UNSPECIFIED, count: first.count)
            try answer(sent: !isClosed && pq_send_prepare(handle, "", text, Int32(first.count), unspecified))
            var last: PostgresResult?
            for row in rows {
                let parameters = try PostgresParameters(row)
                last = try answer(
                    sent: parameters.withPointers { pq_send_prepared(handle, "", Int32(parameters.count), $0, $1) })
            }
            return last
        } catch let failure as PostgresFailure { throw failure.error }
    }

    /// Runs a `COPY … FROM STDIN` with these bytes.
    ///
    /// - Throws: `StoreError`.
    func copyIn(_ text: String, _ bytes: [UInt8]) throws {
        if let failure { throw failure.error }
        do {
            let begun = try answer(sent: !isClosed && pq_send_query(handle, text), endsBeforeRows: true)
            guard begun.isCopyIn else { throw keep(PostgresFailure(.none, .failed(reason: "the server does not take rows"))) }
            let isSent = bytes.withUnsafeBytes { bytes in
                pq_put_copy_data(handle, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            try answer(sent: isSent && pq_put_copy_end(handle))
        } catch let failure as PostgresFailure { throw failure.error }
    }

    private func wrongCount(_ sql: SQL, _ wanted: Int, _ given: Int) -> StoreError {
        .failed(reason: "a statement with \(wanted) parameters received \(given) values: \(sql.text)")
    }

    /// Returns a text as an SQL literal.
    func literal(_ text: String) -> String {
        guard let literal = pq_escape_literal(handle, text, text.utf8.count) else { return "''" }
        defer { pq_free(literal) }
        return String(cString: literal)
    }

    // MARK: Waiting for the server

    /// Returns the result of the statements that were just sent: throws the first error, otherwise returns the last result.
    ///
    /// - Parameters:
    ///   - endsBeforeRows: Whether to return as soon as the server waits for the rows of a `COPY`.
    ///   - milliseconds: The time limit; by default that of a statement.
    @discardableResult
    private func answer(sent: Bool, endsBeforeRows: Bool = false, within milliseconds: Int32? = nil) throws -> PostgresResult {
        guard sent else { throw keep(lost()) }
        // The server enforces shorter time limits itself. This deadline covers a server that has stopped responding.
        let limit = milliseconds ?? PostgresConnecting.statementMilliseconds + waitMilliseconds
        let deadline = Monotonic.nanoseconds() + UInt64(limit) * 1_000_000
        var last: PostgresResult?
        var refused: (state: String?, reason: String)?
        while true {
            while pq_is_busy(handle) {
                guard Descriptor.wait(pq_socket(handle), for: .reading, until: deadline), pq_consume_input(handle) else {
                    let failure = lost()
                    close()
                    throw keep(failure)
                }
            }
            guard let result = pq_get_result(handle).map(PostgresResult.init) else { break }
            refused = refused ?? result.failure
            last = result
            if endsBeforeRows, result.isCopyIn { return result }
        }
        if let (state, reason) = refused { throw keep(failure(state, reason)) }
        guard let last else { throw keep(lost()) }
        return last
    }

    private func failure(_ state: String?, _ reason: String) -> PostgresFailure {
        if state == "25006", transaction.mode == .read {
            return PostgresFailure(.none, .failed(reason: "a read must not write: \(reason)"))
        }
        if !pq_is_connected(handle), state == nil { return lost() }
        return PostgresFailure(state: state ?? "", reason: reason, isConnected: true, address: address)
    }

    private func lost() -> PostgresFailure {
        PostgresFailure(.connectAnew, .unreachable(path: address.description, reason: "the connection to the server was lost"))
    }

    private func keep(_ failure: PostgresFailure) -> PostgresFailure {
        self.failure = self.failure ?? failure
        return failure
    }
}
