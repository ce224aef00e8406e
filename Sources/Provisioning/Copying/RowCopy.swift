import Contract
import Platform
import ServiceContext
import Storage

/// Copies all rows of a store into an empty store, in one transaction of the target and one consistent view of the source.
///
/// The target is marked as incomplete before the first row and until `finish`, so that the rest of an interrupted copy cannot be opened.
public struct RowCopy {
    private let source: any Database
    private let target: any Database
    /// The tables in the order in which they were created: a table refers to earlier tables only.
    private let tables: [String]

    /// The maximum number of rows in memory.
    private static let rowsAtOnce = 500

    /// The result of a copy.
    public struct Copied: Sendable {
        /// The number of rows of each table, in the order of the tables.
        public let rows: [(table: String, count: Int64)]
        /// The last record of each chain of the source's audit log.
        public let heads: [AuditHead]
    }

    public init(from source: any Database, to target: any Database, tables: [String]) {
        self.source = source
        self.target = target
        self.tables = tables
    }

    /// Returns the number of rows of each table of the source.
    public func counts() throws -> [(table: String, count: Int64)] {
        try source.read { tx in
            try tx.allowLongStatements()
            return counts(try tx.rowCounts())
        }
    }

    private func counts(_ rows: [String: Int64]) -> [(table: String, count: Int64)] { tables.map { ($0, rows[$0] ?? 0) } }

    /// Returns whether the target contains nothing, or only the rest of an interrupted copy.
    public func isTargetEmpty() throws -> Bool { try target.read(isEmpty) }

    private func isEmpty(_ tx: Transaction) throws -> Bool {
        if try tx.storeFact(StoreMetadata.incompleteFact) != nil { return true }
        return try counts(tx.rowCounts()).allSatisfy { $0.count == 0 }
    }

    /// Copies the rows.
    ///
    /// - Parameters:
    ///   - changing: Changes rows of the target before it is committed.
    ///   - progress: Receives the number of rows that are copied and the number of all rows.
    /// - Returns: `nil` if the target is not empty.
    /// - Throws: `StoreError`; any error that `changing` or `progress` throws.
    public func run(
        changing: (Transaction) throws -> Void = { _ in }, progress: (_ done: Int64, _ total: Int64) throws -> Void
    ) throws -> Copied? {
        // Committed first, so that the target cannot be opened as a new store during the copy.
        let isClaimed = try target.write { tx in
            try tx.keepOthersOut(of: tables)
            guard try isEmpty(tx) else { return false }
            try tx.setStoreFact(StoreMetadata.incompleteFact, "true")
            return true
        }
        guard isClaimed else { return nil }
        return try target.write { output in
            try output.allowLongStatements()
            try output.keepOthersOut(of: tables)
            guard try output.storeFact(StoreMetadata.incompleteFact) != nil else { return nil }
            try output.empty(tables)
            var isRepeated = false
            let copied = try source.read { input in
                // The view of the first run has ended, and its rows are in the target.
                if isRepeated { throw StoreError.failed(reason: "the connection to the source was lost during the copy") }
                isRepeated = true
                return try copy(input, output, progress)
            }
            try output.setStoreFact(StoreMetadata.incompleteFact, "true")
            try changing(output)
            return copied
        }
    }

    private func copy(_ input: Transaction, _ output: Transaction, _ progress: (Int64, Int64) throws -> Void) throws -> Copied {
        try input.allowLongStatements()
        let rows = counts(try input.rowCounts())
        let total = rows.reduce(0) { $0 + $1.count }
        var done: Int64 = 0
        for table in tables {
            let columns = try input.columns(of: table)
            guard Set(columns) == Set(try output.columns(of: table)) else {
                throw StoreError.corrupt(reason: "the columns of the table \(table) differ between the stores")
            }
            var batch: [[SQLParameter]] = []
            func send() throws {
                try output.insert(into: table, columns, batch)
                done += Int64(batch.count)
                batch.removeAll(keepingCapacity: true)
                try progress(done, total)
            }
            try input.copyRows(of: table, columns) { row in
                batch.append(row)
                if batch.count == Self.rowsAtOnce { try send() }
            }
            if !batch.isEmpty { try send() }
        }
        let heads = try input.auditHeads().map { AuditHead(chain: $0.chain, records: $0.number, head: Base64URL.encode($0.mac)) }
        return Copied(rows: rows, heads: heads)
    }

    /// Returns the first table whose number of rows differs from what was copied.
    public func difference(from copied: Copied) throws -> (table: String, expected: Int64, found: Int64)? {
        let found = try target.read { tx in
            try tx.allowLongStatements()
            return try tx.rowCounts()
        }
        for (table, count) in copied.rows {
            // The mark is a row of this table.
            let mark: Int64 = table == "store_fact" ? 1 : 0
            if found[table] != count + mark { return (table, count, (found[table] ?? 0) - mark) }
        }
        return nil
    }

    /// Lets the target be opened.
    public func finish() throws { try target.write { try $0.setStoreFact(StoreMetadata.incompleteFact, nil) } }
}
