import JSON

extension Mintmark {
    /// Receives the progress values of a method, such as `["nextLine": 401]` for `account.import`.
    public typealias Progress = @Sendable (_ value: JSONValue) -> Void

    /// Returns the same methods with a listener for progress: `m.withProgress { print($0) }.account.import(file: "people.jsonl")`.
    ///
    /// - Parameter progress: receives the values in order, in the thread that reads responses, and only until the call returns. Must not
    ///   block.
    public func withProgress(_ progress: @escaping Progress) -> some Caller { Reporting(mintmark: self, progress: progress) }
}

/// A client whose calls report progress.
private struct Reporting: Caller {
    let mintmark: Mintmark
    let progress: Mintmark.Progress

    func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
        try await mintmark.answer(to: method, params, timeout: timeout, trace: trace, progress: progress)
    }
}
