import Contract

/// Collects all violations of a document.
struct ApplyProblems {
    private(set) var violations: [Violation] = []

    mutating func add(_ pointer: String, rule: String, _ message: String) {
        violations.append(Violation(pointer: pointer, rule: rule, message: message))
    }

    /// Runs a check of the contract. An error of the contract becomes a violation at `pointer`.
    ///
    /// - Returns: The result, or `nil` if there was a violation.
    mutating func attempt<R>(_ pointer: String, _ body: () throws -> R) throws -> R? {
        do { return try body() } catch let error as any ContractError where error.code > 0 && !(8000...8999).contains(error.code) {
            add(pointer, rule: Swift.type(of: error).type, error.message)
            return nil
        }
    }
}
