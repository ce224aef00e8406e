import JSON

/// An error, as `schemas/errors.json` describes it.
struct ErrorEntry {
    let code: Int64
    /// Its stable name.
    let type: String
    /// For people, with `{placeholders}` for members of the data. A part in brackets is said when the optional member in it is there.
    let message: String
    /// When it happens.
    let when: String
    /// Present on errors that may go away by themselves: after how many seconds to try again.
    let retryAfterSeconds: Int64?
    /// Whether it says that the store cannot be used. Commands then end with the exit status 2.
    var isStoreError = false
    /// What stands in `error.data` beside `type`. `retryAfterSeconds` is among it where there is one.
    let data: [Property]
    /// Vendor to the names of the same thing there.
    let equivalents: [(vendor: String, name: String)]

    /// The message in pieces: what is always said, and what stands in brackets.
    var messageSections: [(parts: [(text: String, placeholder: String?)], isOptional: Bool)] {
        message.split(separator: "[", omittingEmptySubsequences: false).enumerated().flatMap { number, text in
            let halves = number == 0 ? [text] : text.split(separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
            return halves.enumerated().map { (Self.parts(of: $1), number > 0 && $0 == 0) }
        }
    }

    /// The message in pieces: text, and names of data members.
    var messageParts: [(text: String, placeholder: String?)] { messageSections.flatMap(\.parts) }

    private static func parts(of message: Substring) -> [(text: String, placeholder: String?)] {
        var parts: [(String, String?)] = []
        var rest = message
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            parts.append((String(rest[..<open]), String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        return parts + [(String(rest), nil)]
    }
}
