import JSON

/// The preconditions of an example. An example refers to fixtures by name with `given`.
///
/// Running a fixture first runs the fixtures that it requires, each once, and then its steps in order. A `$name` in the expected result of
/// a step captures the value at that position. In later steps and in the example, `$name` is replaced by that value.
struct Fixture {
    let name: String
    let given: [String]
    let steps: [Step]

    struct Step {
        let method: String
        let params: JSONValue
        /// The members to compare or capture.
        let result: JSONValue
    }
}

/// All fixtures.
enum Fixtures {
    static func named(_ name: String) -> Fixture? { byName[name] }

    static let all: [Fixture] = pools + people + federation + events
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The key of an identity provider, and tokens signed with it. They are valid until the year 2100.
    static let exampleKey: JSONValue = [
        "kty": "EC", "crv": "P-256", "kid": "example-1", "alg": "ES256", "use": "sig", "x": "e26ZvVIcsUUT9oamu4gZzAvkbG8Z3_ymL5iC6x4lePs",
        "y": "bvosK_FCdA5eBa5eAm3JU8tDoN0gLXD00LikirGRm-w",
    ]
    static let carolsToken: JSONValue =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImV4YW1wbGUtMSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiY2Fyb2wiLCJhdWQiOiJzaG9wIiwiaWF0IjoxNjAwMDAwMDAwLCJleHAiOjQxMDI0NDQ4MDAsImVtYWlsIjoiY2Fyb2xAZXhhbXBsZS5jb20ifQ.Pjv2fEpMBxTDV7x1HptsvSpwbDz2gP_9DDuZCpHEzmJ9f8d1pIVphlZS34fDHXLn6XqtYdDvifUUS-jwKIRBlw"
    static let carolsOtherToken: JSONValue =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImV4YW1wbGUtMSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUub3JnIiwic3ViIjoiY2Fyb2wtNyIsImF1ZCI6InNob3AiLCJpYXQiOjE2MDAwMDAwMDAsImV4cCI6NDEwMjQ0NDgwMH0.eadbAR-DqD26p3o4_wK_QubtGWgeezM_pCpe5NbofwSb6Cnmj6arAn6D4z4RCy8bB_cDr94i5g9sve5RoOMg2g"
}
