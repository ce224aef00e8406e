/// A cache of the query results of one connection, for one version of the database.
struct QueryCache {
    private var dataVersion: Int64 = -1
    private var answers: [Question: String] = [:]
    /// The key of the current lookup, reused to avoid an allocation.
    private var question = Question()
    /// The maximum number of entries, about one megabyte. The cache is cleared when it is reached.
    private static let most = 4096

    /// Returns the cached result or the result of `ask`. The absence of a result is not cached.
    mutating func text(
        _ sql: SQL, _ parameters: [String], at dataVersion: Int64, ask: () throws -> String?
    ) rethrows -> String? {
        if dataVersion != self.dataVersion {
            self.dataVersion = dataVersion
            answers.removeAll(keepingCapacity: true)
        }
        write(sql, parameters)
        if let known = answers[question] { return known }
        guard let answer = try ask() else { return nil }
        if answers.count >= Self.most { answers.removeAll(keepingCapacity: true) }
        answers[question] = answer
        return answer
    }

    /// Writes the key: the address of the statement, then each parameter after a byte that does not occur in UTF-8. Keys are compared by
    /// bytes, because strings compare by canonical equivalence.
    private mutating func write(_ sql: SQL, _ parameters: [String]) {
        question.bytes.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: UInt(bitPattern: sql.text.utf8Start)) { question.bytes.append(contentsOf: $0) }
        for parameter in parameters {
            question.bytes.append(0xFF)
            question.bytes.append(contentsOf: parameter.utf8)
        }
    }

    /// Bytes that are hashed in one piece; an array hashes each element separately.
    private struct Question: Hashable {
        var bytes: [UInt8] = []

        func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
}
