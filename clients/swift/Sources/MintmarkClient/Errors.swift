import JSON

/// What Mintmark answers where it refuses a call.
public struct Answer: Sendable, Equatable {
    /// The number of the error; each belongs to one `type` for good.
    public let code: Int
    /// The stable name of the error.
    public let type: String
    /// For people, and says what to do next.
    public let message: String
    /// What the answer says beside it.
    public let data: JSONObject
    /// The method that was called.
    public let method: String
    /// The call's.
    public let trace: String?

    /// A member of `data`; nil where it is not there or of another kind.
    public func member<V: WireValue>(_ name: String) -> V? { data[name].flatMap { try? V(wire: $0) } }

    /// After how long the same call may succeed; nil for an error that does not go away by itself.
    public var retryAfter: Duration? { (member("retryAfterSeconds") as Int?).map { .seconds($0) } }

    /// The error of its own type, or `UnknownError`.
    var error: any AnsweredError { errorTypes[code]?.init(self) ?? UnknownError(answer: self) }
}

/// An error that Mintmark answered. Each has a type of its own, such as `PoolNotFoundError`.
public protocol AnsweredError: Error, CustomStringConvertible {
    var answer: Answer { get }
}

extension AnsweredError {
    public var description: String { "\(answer.method): \(answer.message)" }
}

/// An answered error that this client knows.
public protocol KnownError: AnsweredError {
    init(_ answer: Answer)
}

/// An answered error that this client does not know: a newer Mintmark's.
public struct UnknownError: AnsweredError {
    public let answer: Answer
}

/// What the program gave cannot be used: options, or values that have no JSON.
public struct UsageError: Error, CustomStringConvertible {
    /// What to give instead.
    public let description: String
    package init(_ description: String) { self.description = description }
}

/// The program is not where it was looked for, or cannot be run.
public struct BinaryNotFoundError: Error, CustomStringConvertible {
    /// Where it was looked for.
    public let binary: String
    /// What the system says.
    public let reason: String

    public var description: String {
        "There is no program \(binary.contains("/") ? "at \(binary)" : "named \(binary) on PATH") that can be run: \(reason). Build it in "
            + "Mintmark's repository (clients/shell/mintmark --version makes .build/mintmark) and name it: binary: …, "
            + "export MINTMARK_BINARY=$PWD/.build/mintmark, or put it on PATH."
    }
}

/// The program is older than this client, or lacks one of its methods.
public struct BinaryTooOldError: Error, CustomStringConvertible {
    public let binary: String
    /// What it says of itself; nil where it was not asked.
    public let version: String?
    /// Its answer, where it lacks a method.
    public let answer: Answer?

    public var description: String {
        let what = answer.map { "has no method \($0.method)" } ?? "is Mintmark \(version ?? "")"
        return
            "\(binary) \(what): it is older than this client, which was made for Mintmark \(contractVersion). Build or install the newer one; "
            + "mintmark --version says what it is, MINTMARK_BINARY or binary: … names another."
    }
}

/// The process ended before it answered. Whether what was asked for has been done is not known.
public struct ProcessEndedError: Error, CustomStringConvertible {
    public let binary: String
    /// Its status; nil where a signal ended it.
    public let exitStatus: Int?
    /// The signal that ended it.
    public let signal: Int?
    /// The last lines that it wrote to standard error.
    public let lastWords: [String]
    /// The method that was waiting.
    public let method: String
    /// What the next call does.
    public let advice: String

    public var description: String {
        let how = exitStatus.map { "exit status \($0)" } ?? signal.map { "signal \($0)" } ?? "status unknown"
        var parts = ["\(method): the process \(binary) ended before it answered: \(how)."]
        if exitStatus == 2 { parts.append("The store cannot be used; mintmark doctor says why.") }
        if exitStatus == 64 {
            parts.append("It refused its arguments: an option has a value it does not take, or it is older than this client.")
        }
        parts.append(advice)
        if !lastWords.isEmpty { parts.append("Its last words: " + lastWords.joined(separator: "\n")) }
        return parts.joined(separator: " ")
    }
}

/// What came out of the pipe is not what Mintmark writes, or an answer is not what this client takes.
public struct ProtocolError: Error, CustomStringConvertible {
    /// The program, where it does not answer as Mintmark does; it was ended.
    public let binary: String?
    /// The method, where only its answer cannot be taken.
    public let method: String?
    public let reason: String

    init(binary: String, reason: String) { (self.binary, method, self.reason) = (binary, nil, reason) }

    init(method: String, reason: String) { (binary, self.method, self.reason) = (nil, method, reason) }

    public var description: String {
        if let method {
            return "The answer of \(method) is not what this client takes: \(reason). Is the program newer than this client? "
                + "mintmark --version says; m.call(\"\(method)\", …, as: JSONValue.self) gives the answer as it is."
        }
        return "\(binary ?? "") does not answer as Mintmark does: \(reason). Is it the right program? "
            + "MINTMARK_BINARY or binary: … names another."
    }
}

/// The answer did not come in time. The request was cancelled; it may have taken effect nevertheless.
public struct CallTimedOutError: Error, CustomStringConvertible {
    public let method: String
    public let timeout: Duration
    public var description: String {
        "\(method) was not answered within \(timeout). It was cancelled; it may have taken effect nevertheless."
    }
}

/// `close` was called before, on the client or on a CredentialsProvider.
public struct ClientClosedError: Error, CustomStringConvertible {
    public let method: String
    private let what: String

    package init(method: String) { (self.method, what) = (method, "client that is closed; start a new one") }

    init(ofProvider method: String) { (self.method, what) = (method, "CredentialsProvider that is closed; make a new one") }

    public var description: String { "\(method) was called on a \(what)." }
}
