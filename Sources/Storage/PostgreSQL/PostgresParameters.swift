import CPostgres

/// The values of one run of a statement, in PostgreSQL's binary format.
struct PostgresParameters {
    private(set) var types: [pq_oid] = []
    private var lengths: [Int32] = []
    /// Where each value begins in `space`; nil for NULL.
    private var places: [Int?] = []
    private var space: [UInt8] = []

    /// How many the shim can pass on.
    static let most = 64

    /// - Throws: `StoreError.failed` for text with U+0000, which PostgreSQL cannot hold.
    init(_ values: [any SQLValue]) throws(StoreError) {
        guard values.count <= Self.most else { throw .failed(reason: "a statement received \(values.count) values") }
        for value in values { try append(value.sqlParameter) }
        // An empty value at the end still needs an address: without one it would be NULL.
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

    /// Runs `body` with the addresses and lengths of the values.
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

/// A statement that one connection has prepared.
struct PostgresStatement {
    let name: String
    /// What each parameter must be.
    let types: [pq_oid]

    /// - Throws: `StoreError.failed` if a value is of another type than the statement was prepared for.
    func check(_ parameters: PostgresParameters, _ sql: SQL) throws(StoreError) {
        for (index, (given, wanted)) in zip(parameters.types, types).enumerated()
        where given != wanted && given != PQ_TYPE_UNSPECIFIED {
            throw .failed(reason: "$\(index + 1) has type \(wanted) and received \(given) (pg_type): \(sql.text)")
        }
    }
}
