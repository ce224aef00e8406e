import JSON

/// An error, as `schemas/errors.json` describes it.
struct ErrorEntry {
    let code: Int64
    /// Its stable name.
    let type: String
    /// For people, with `{placeholders}` for members of the data.
    let message: String
    /// When it happens.
    let when: String
    /// Present on errors that may go away by themselves: after how many seconds to try again.
    let retryAfterSeconds: Int64?
    /// What stands in `error.data` beside `type`. `retryAfterSeconds` is among it where there is one.
    let data: [Property]
    /// Vendor to the names of the same thing there.
    let equivalents: [(vendor: String, name: String)]

    /// The message in pieces: text, and names of data members.
    var messageParts: [(text: String, placeholder: String?)] {
        var parts: [(String, String?)] = []
        var rest = Substring(message)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            parts.append((String(rest[..<open]), String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        return parts + [(String(rest), nil)]
    }
}
