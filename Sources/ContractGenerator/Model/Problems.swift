/// Collects the errors in the contract, so that one run reports all of them.
final class Problems {
    private(set) var all: [String] = []

    func add(_ place: String, _ message: String) { all.append("\(place): \(message)") }
}

/// Thrown if the contract cannot be used. Describes all errors.
struct ContractProblems: Error, CustomStringConvertible {
    let all: [String]
    var description: String { all.joined(separator: "\n") }
}
