import JSON

/// A method, as its file under `schemas/methods` describes it.
struct Method {
    enum Caller: String, CaseIterable { case `public`, developer }

    /// `namespace.verb`.
    let name: String
    let summary: String
    let description: String
    let caller: Caller
    let isReadOnly: Bool
    /// Offered only with `--testing`.
    let isTesting: Bool
    let params: ObjectType
    let result: Type
    /// The type of the values that `$/progress` reports for it, if it reports any.
    let progress: Type?
    /// The types of the errors it answers, beside those that every method may answer.
    let errors: [String]
    let examples: [Example]
    /// Vendor to the names of the same thing there.
    let equivalents: [(vendor: String, name: String)]

    var namespace: String { String(name.prefix { $0 != "." }) }
    var verb: String { String(name.drop { $0 != "." }.dropFirst()) }
}

/// One call and what it answers. `$names` in it stand for values that differ from run to run.
struct Example {
    enum Outcome {
        case result(JSONValue)
        /// The type of the error.
        case error(String)
    }

    let name: String
    /// The fixtures that must be there first.
    let given: [String]
    let params: JSONValue
    let outcome: Outcome
    /// Whether it needs a service elsewhere, so that nobody can run it alone.
    var needsElsewhere = false
}
