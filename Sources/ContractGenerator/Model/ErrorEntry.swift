import JSON

/// An error in `schemas/errors.json`.
struct ErrorEntry {
    let code: Int64
    /// The stable name.
    let type: String
    /// A human-readable message with `{placeholders}` for members of the data. A part in brackets is included if its optional member is
    /// present.
    let message: String
    /// The condition under which the error occurs.
    let when: String
    /// The time after which to retry, in seconds. Present if a retry can succeed.
    let retryAfterSeconds: Int64?
    /// Whether the error means that the store cannot be used. Commands then exit with status 2.
    var isStoreError = false
    /// The members of `error.data` in addition to `type`. Includes `retryAfterSeconds` for errors that define it.
    let data: [Property]
    /// The corresponding names in other products, by vendor.
    let equivalents: [(vendor: String, name: String)]

    /// The sections of the message: those that are always included, and optional sections in brackets.
    var messageSections: [(parts: [(text: String, placeholder: String?)], isOptional: Bool)] {
        message.split(separator: "[", omittingEmptySubsequences: false).enumerated().flatMap { number, text in
            let halves = number == 0 ? [text] : text.split(separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
            return halves.enumerated().map { (Self.parts(of: $1), number > 0 && $0 == 0) }
        }
    }

    /// The parts of the message: text, and names of data members.
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
