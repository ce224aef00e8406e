/// The answers that one connection has seen in one version of the database.
struct KnownTexts {
    private var dataVersion: Int64 = -1
    private var answers: [Question: String] = [:]
    /// Written anew for each look-up.
    private var question = Question()
    /// Past so many answers it starts anew: about a megabyte.
    private static let most = 4096

    /// What is known, or what `ask` answers. That there is no answer is not remembered.
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

    /// The statement by its address, then the parameters, each behind a byte that no text has: strings compare by meaning, these by bytes.
    private mutating func write(_ sql: SQL, _ parameters: [String]) {
        question.bytes.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: UInt(bitPattern: sql.text.utf8Start)) { question.bytes.append(contentsOf: $0) }
        for parameter in parameters {
            question.bytes.append(0xFF)
            question.bytes.append(contentsOf: parameter.utf8)
        }
    }

    /// Bytes that are hashed as one piece; an array hashes each for itself.
    private struct Question: Hashable {
        var bytes: [UInt8] = []

        func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
}
