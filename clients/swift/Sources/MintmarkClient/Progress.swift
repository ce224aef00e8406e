import JSON

extension Mintmark {
    /// Receives the progress values of a method as JSON.
    typealias Progress = @Sendable (_ value: JSONValue) -> Void
}
