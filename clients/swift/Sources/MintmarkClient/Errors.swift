import JSON

/// The error that Mintmark returned for a call.
public struct Answer: Sendable, Equatable {
    /// The number of the error, which is unique to its `type` and never changes.
    public let code: Int
    /// The stable name of the error.
    public let type: String
    /// The text for the developer, including the next action.
    public let message: String
    /// The details of the error.
    public let data: JSONObject
    /// The method that was called.
    public let method: String
    /// The trace of the call.
    public let trace: String?

    /// A member of `data`, or nil if it is absent or has another type.
    public func member<V: WireValue>(_ name: String) -> V? { data[name].flatMap { try? V(wire: $0) } }

    /// The time after which the same call can succeed, or nil if a retry cannot succeed.
    public var retryAfter: Duration? { (member("retryAfterSeconds") as Int?).map { .seconds($0) } }

    /// The error as its specific type, or as an `UnknownError`.
    var error: any AnsweredError { errorTypes[code]?.init(self) ?? UnknownError(answer: self) }
}

/// An error that Mintmark returned. Each error has a specific type, such as `PoolNotFoundError`.
public protocol AnsweredError: Error, CustomStringConvertible {
    var answer: Answer { get }
}

extension AnsweredError {
    public var description: String { "\(answer.method): \(answer.message)" }
}

/// An error of Mintmark that this client knows.
public protocol KnownError: AnsweredError {
    init(_ answer: Answer)
}

/// An error of a newer Mintmark that this client does not know.
public struct UnknownError: AnsweredError {
    public let answer: Answer
}

/// The options are not valid, or a value cannot be written as JSON.
public struct UsageError: Error, CustomStringConvertible {
    /// The allowed values.
    public let description: String
    package init(_ description: String) { self.description = description }
}

/// The program does not exist at the path, is not on the PATH, or cannot be executed.
public struct BinaryNotFoundError: Error, CustomStringConvertible {
    /// The program that could not be started: a path or a name.
    public let binary: String
    /// The error message of the operating system.
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
    /// The version that the program reported, or nil if it lacks a method.
    public let version: String?
    /// The error that the program returned, if it lacks a method.
    public let answer: Answer?

    public var description: String {
        let what = answer.map { "has no method \($0.method)" } ?? "is Mintmark \(version ?? "")"
        return
            "\(binary) \(what): it is older than this client, which was made for Mintmark \(contractVersion). Build or install the newer one; "
            + "mintmark --version says what it is, MINTMARK_BINARY or binary: … names another."
    }
}

/// The process ended before it returned a response. It is unknown whether the call took effect.
public struct ProcessEndedError: Error, CustomStringConvertible {
    public let binary: String
    /// The exit status, or nil if a signal ended the process.
    public let exitStatus: Int?
    /// The signal that ended it.
    public let signal: Int?
    /// The last lines that the process wrote to standard error.
    public let lastWords: [String]
    /// The method that was waiting for a response.
    public let method: String
    /// The recommended next action.
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

/// The process wrote output that is not valid Mintmark output, or a result has an unexpected type.
public struct ProtocolError: Error, CustomStringConvertible {
    /// The program, if its output is not valid. The process was stopped.
    public let binary: String?
    /// The method, if only its result has an unexpected type.
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

/// The call took longer than its time limit. The request was canceled but may have taken effect.
public struct CallTimedOutError: Error, CustomStringConvertible {
    public let method: String
    public let timeout: Duration
    public var description: String {
        "\(method) was not answered within \(timeout). It was cancelled; it may have taken effect nevertheless."
    }
}

/// The client or the CredentialsProvider was already closed.
public struct ClientClosedError: Error, CustomStringConvertible {
    public let method: String
    private let what: String

    package init(method: String) { (self.method, what) = (method, "client that is closed; start a new one") }

    init(ofProvider method: String) { (self.method, what) = (method, "CredentialsProvider that is closed; make a new one") }

    public var description: String { "\(method) was called on a \(what)." }
}
