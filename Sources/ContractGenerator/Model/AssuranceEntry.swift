import JSON

/// A requirement of a security standard, from `schemas/assurance.json`.
struct AssuranceEntry {
    let number: String
    let level: String
    let title: String
    let status: String
    let note: String
    /// The tests that show the status.
    let tests: [String]

    init(_ json: JSONValue) {
        number = json["number"]?.string ?? ""
        level = json["level"]?.string ?? ""
        title = json["title"]?.string ?? ""
        status = json["status"]?.string ?? ""
        note = json["note"]?.string ?? ""
        tests = (json["tests"]?.array ?? []).compactMap(\.string)
    }

    static let statuses = ["pass", "gap", "host", "notApplicable"]
}
