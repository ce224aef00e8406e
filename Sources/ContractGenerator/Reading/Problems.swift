/// What is wrong with the contract, gathered so that one run names everything.
final class Problems {
    private(set) var all: [String] = []

    func add(_ place: String, _ message: String) { all.append("\(place): \(message)") }
}

/// The contract cannot be used; says everything that is wrong with it.
struct ContractProblems: Error, CustomStringConvertible {
    let all: [String]
    var description: String { all.joined(separator: "\n") }
}
