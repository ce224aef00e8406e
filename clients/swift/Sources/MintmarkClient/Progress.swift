import JSON

extension Mintmark {
    /// Gets what a method says of its progress, such as `["nextLine": 401]` of `account.import`.
    public typealias Progress = @Sendable (_ value: JSONValue) -> Void

    /// The same methods, which tell of their progress: `m.withProgress { print($0) }.account.import(file: "people.jsonl")`.
    ///
    /// - Parameter progress: called in order, and no more once the call has returned, in the thread that reads answers; must not wait.
    public func withProgress(_ progress: @escaping Progress) -> some Caller { Reporting(mintmark: self, progress: progress) }
}

/// A client whose calls tell of their progress.
private struct Reporting: Caller {
    let mintmark: Mintmark
    let progress: Mintmark.Progress

    func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
        try await mintmark.answer(to: method, params, timeout: timeout, trace: trace, progress: progress)
    }
}
