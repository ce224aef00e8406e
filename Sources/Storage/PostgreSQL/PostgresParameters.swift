import CPostgres

/// The parameter values of one statement, in the binary format of PostgreSQL.
struct PostgresParameters {
    private(set) var types: [pq_oid] = []
    private var lengths: [Int32] = []
    /// The offset of each value in `space`; `nil` for NULL.
    private var places: [Int?] = []
    private var space: [UInt8] = []

    /// The maximum number of parameters that the C shim supports.
    static let most = 64

    /// - Throws: `StoreError.failed` if a text contains U+0000, which PostgreSQL cannot store.
    init(_ values: [any SQLValue]) throws(StoreError) {
        guard values.count <= Self.most else { throw .failed(reason: "a statement received \(values.count) values") }
        for value in values { try append(value.sqlParameter) }
        // An empty value at the end still needs an address; a null address would mean NULL.
        space.append(0)
    }

    var count: Int { types.count }

    private mutating func append(_ value: SQLParameter) throws(StoreError) {
        let start = space.count
        switch value {
        case .null: types.append(PQ_TYPE_UNSPECIFIED)
        case .text(let text):
            types.append(PQ_TYPE_TEXT)
            if text.utf8.contains(0) { throw .failed(reason: "PostgreSQL cannot store text with the character U+0000") }
            space.append(contentsOf: text.utf8)
        case .integer(let integer):
            types.append(PQ_TYPE_INT8)
            withUnsafeBytes(of: integer.bigEndian) { space.append(contentsOf: $0) }
        case .bool(let bool):
            types.append(PQ_TYPE_BOOL)
            space.append(bool ? 1 : 0)
        case .bytes(let bytes):
            types.append(PQ_TYPE_BYTEA)
            space.append(contentsOf: bytes)
        }
        lengths.append(Int32(space.count - start))
        if case .null = value { places.append(nil) } else { places.append(start) }
    }

    /// Calls `body` with the addresses and lengths of the values.
    func withPointers<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?) -> R) -> R {
        space.withUnsafeBytes { space in
            let start = space.baseAddress!.assumingMemoryBound(to: CChar.self)
            let pointers = places.map { $0.map { UnsafePointer(start + $0) } }
            return pointers.withUnsafeBufferPointer { pointers in
                lengths.withUnsafeBufferPointer { body(pointers.baseAddress, $0.baseAddress) }
            }
        }
    }
}

/// A statement that is prepared on one connection.
struct PostgresStatement {
    let name: String
    /// The required type of each parameter.
    let types: [pq_oid]

    /// - Throws: `StoreError.failed` if a value does not have the type for which the statement was prepared.
    func check(_ parameters: PostgresParameters, _ sql: SQL) throws(StoreError) {
        for (index, (given, wanted)) in zip(parameters.types, types).enumerated()
        where given != wanted && given != PQ_TYPE_UNSPECIFIED {
            throw .failed(reason: "$\(index + 1) has type \(wanted) and received \(given) (pg_type): \(sql.text)")
        }
    }
}
