import JSON

/// A method, as described by its file under `schemas/methods`.
struct Method {
    enum Caller: String, CaseIterable { case `public`, developer }

    /// The permission that a language model needs for the tool of the method.
    enum Level: String, CaseIterable { case read, write, destroy }

    /// The resource for which a call may wait.
    enum Cost: String, CaseIterable { case quick, store, slow, network }

    /// A parameter that changes the cost of a call.
    struct CostCase {
        /// The step of `parameter` that stands for any element of an array.
        static let anyElement = "*"

        /// The path to the parameter, as a JSON pointer.
        let parameter: String
        /// The values that change the cost. If empty, every value does.
        let values: [String]
        let cost: Cost

        var steps: [String] { parameter.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init) }
    }

    /// The name, in the form `namespace.verb`.
    let name: String
    let summary: String
    let description: String
    let caller: Caller
    let isReadOnly: Bool
    /// Whether the method is offered only with `--testing`.
    let isTesting: Bool
    let level: Level
    /// Whether the parameters or the result carry a token, password, code, key or credential. `nil` if no member is secret.
    let secrets: Bool?
    /// When a language model uses the tool of the method. Empty if the summary says it.
    let use: String
    /// The methods that often follow.
    let next: [String]
    let cost: Cost
    /// The exceptions from `cost`. The first that applies counts.
    let costCases: [CostCase]
    /// The members of the entries of the listed result that a table shows, in order. Empty if the program chooses them.
    var columns: [String] = []
    let params: ObjectType
    let result: Type
    /// The type of the values that `$/progress` reports, or `nil` if the method reports none.
    let progress: Type?
    /// The types of the method-specific errors. Any method can also fail with the general errors.
    let errors: [String]
    let examples: [Example]
    /// Whether the method changes how users sign in, or checks a token, without returning one.
    var changesCredentials = false
    /// The result of the method for an account that is locked, disabled and so on. `nil` if it opens no account.
    var guards: DoorGuards?
    /// The corresponding names in other products, by vendor.
    let equivalents: [(vendor: String, name: String)]

    var namespace: String { String(name.prefix { $0 != "." }) }
    var verb: String { String(name.drop { $0 != "." }.dropFirst()) }
}

/// A call and its outcome. `$names` represent values that differ between runs.
struct Example {
    enum Outcome {
        case result(JSONValue)
        /// The type of the error.
        case error(String)
    }

    let name: String
    /// The fixtures that the example requires.
    let given: [String]
    let params: JSONValue
    let outcome: Outcome
    /// Whether the example needs an external service and therefore cannot run alone.
    var needsElsewhere = false
}
