import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// A snapshot as a file of JSON lines: a header, the columns and rows of each table, the state of the test provider, and a digest of all
/// previous lines. The digest detects truncated and altered files.
enum SnapshotFile {
    private static let kind = "mintmark snapshot"
    private static let version: Int64 = 1
    private static let longestLine = 64 << 20
    /// The values of a request are nested more deeply in a line of the file.
    private static let maximumDepth = 128

    // MARK: Writing

    static func bytes(of snapshot: Snapshot) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1 << 16)
        writer.line {
            $0.beginObject()
            $0.key("kind")
            $0.string(kind)
            $0.key("version")
            $0.int(version)
            $0.key("schemaVersion")
            $0.int(snapshot.schemaVersion)
            $0.key("seal")
            $0.string(snapshot.seal)
            $0.key("now")
            $0.int(snapshot.now)
            $0.key("frozen")
            $0.bool(snapshot.isFrozen)
            $0.endObject()
        }
        for table in snapshot.tables {
            writer.line {
                $0.beginObject()
                $0.key("table")
                $0.string(table.name)
                $0.key("columns")
                $0.beginObject()
                for column in table.columns {
                    $0.key(column.name)
                    $0.string(column.kind.rawValue)
                }
                $0.endObject()
                $0.endObject()
            }
            for row in table.rows { writer.line { $0.row(row) } }
        }
        for record in snapshot.provider.records { writer.line { $0.value(.object(record)) } }
        let digest = Base64URL.encode(Hash.sha256(writer.bytes))
        writer.line {
            $0.beginObject()
            $0.key("end")
            $0.string(digest)
            $0.endObject()
        }
        return writer.bytes
    }

    // MARK: Reading

    /// - Throws: `SnapshotUnusable`, `SnapshotVersionMismatch`.
    static func read(_ path: String) throws -> Snapshot {
        do {
            let file = try LineFile(path, longestLine: longestLine)
            guard case .text(let first)? = try file.next(), var snapshot = header(first) else {
                throw SnapshotUnusable(file: path, reason: "it was not written by test.snapshot")
            }
            guard snapshot.version == version else { throw SnapshotVersionMismatch(found: snapshot.version, supported: version) }
            var seen = first + [0x0A]
            while let line = try file.next() {
                guard case .text(let text) = line, let object = try? JSONText(text, maximumDepth: maximumDepth).root else { break }
                if let end = object["end"]?.string {
                    guard Base64URL.encode(Hash.sha256(seen)) == end else { break }
                    return snapshot.snapshot
                }
                seen += text + [0x0A]
                guard take(object, into: &snapshot.snapshot) else { break }
            }
            throw SnapshotUnusable(file: path, reason: "it was truncated or altered")
        } catch let failure as LineFile.Failure { throw SnapshotUnusable(file: path, reason: failure.reason) }
    }

    private static func header(_ line: [UInt8]) -> (version: Int64, snapshot: Snapshot)? {
        guard let object = try? JSONText(line).root, object["kind"]?.string == kind, let version = object["version"]?.number?.int64,
            let schemaVersion = object["schemaVersion"]?.number?.int64, let seal = object["seal"]?.string,
            let now = object["now"]?.number?.int64, let isFrozen = object["frozen"]?.bool,
            VirtualClock.moments ~= now
        else { return nil }
        return (version, Snapshot(schemaVersion: Int(schemaVersion), seal: seal, now: now, isFrozen: isFrozen, tables: []))
    }

    /// Adds a line to the snapshot: the start of a table, a row of the last table, or a record of the test provider.
    private static func take(_ line: JSONNode, into snapshot: inout Snapshot) -> Bool {
        if let name = line["table"]?.string {
            var columns: [TableColumn] = []
            line["columns"]?.forEachMember { name, kind in
                if let kind = kind.string.flatMap(TableColumn.Kind.init) { columns.append(TableColumn(name: name, kind: kind)) }
            }
            snapshot.tables.append(Snapshot.Table(name: name, columns: columns, rows: []))
            return true
        }
        if line.kind == .object { return line.value.object.map { snapshot.provider.take($0) } ?? false }
        guard let columns = snapshot.tables.last?.columns, line.kind == .array, line.count == columns.count else { return false }
        var row: [SQLParameter] = []
        line.forEachElement { position, value in
            if let value = columns[position].kind.value(value) { row.append(value) }
        }
        snapshot.tables[snapshot.tables.count - 1].rows.append(row)
        return row.count == columns.count
    }
}

extension TableColumn.Kind {
    /// Returns the value of a column of this kind, or `nil` if it has another type.
    fileprivate func value(_ node: JSONNode) -> SQLParameter? {
        if node.isNull { return .null }
        return switch self {
        case .text: node.string.map { .text($0) }
        case .integer: node.number?.int64.map { .integer($0) }
        case .bool: node.bool.map { .bool($0) }
        case .bytes: node.string.flatMap { Base64URL.decode($0) }.map { .bytes($0) }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func line(_ body: (inout JSONWriter) -> Void) {
        beginText()
        body(&self)
        bytes.append(0x0A)
    }

    fileprivate mutating func row(_ row: [SQLParameter]) {
        beginArray()
        for value in row {
            switch value {
            case .null: null()
            case .text(let text): string(text)
            case .integer(let integer): int(integer)
            case .bool(let flag): bool(flag)
            case .bytes(let bytes): string(Base64URL.encode(bytes))
            }
        }
        endArray()
    }
}
