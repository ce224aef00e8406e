import FoundationEssentials
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

    /// Reads the details.
    public var reader: MemberReader { MemberReader(data) }

    /// The error as its specific type, or as an `UnknownAPIError`.
    var error: any APIError { (try? errorTypes[code]?.init(self)) ?? UnknownAPIError(answer: self) }
}

/// An error of this client. `localizedDescription` is its message, for the developer.
public protocol MintmarkError: LocalizedError, CustomStringConvertible {}

extension MintmarkError {
    public var errorDescription: String? { description }
}

/// An error that Mintmark returned. Each error has a specific type, such as `PoolNotFoundError`.
public protocol APIError: MintmarkError {
    var answer: Answer { get }
}

extension APIError {
    public var description: String { "\(answer.method): \(answer.message)" }
    /// The number of the error, which is unique to its `type` and never changes.
    public var code: Int { answer.code }
    /// The stable name of the error.
    public var type: String { answer.type }
    /// The details of the error.
    public var data: JSONObject { answer.data }
    /// The trace of the call.
    public var trace: String? { answer.trace }
    /// The time after which the same call can succeed, or nil if a retry cannot succeed.
    public var retryAfter: Duration? { answer.retryAfter }
}

/// An error of Mintmark that this client knows.
public protocol KnownError: APIError {
    /// - Throws: `UnexpectedValue` if the details are not those of the contract.
    init(_ answer: Answer) throws
}

/// An error of a newer Mintmark that this client does not know.
public struct UnknownAPIError: APIError {
    public let answer: Answer
}

/// The options are not valid, or a value cannot be written as JSON.
public struct UsageError: MintmarkError {
    /// The allowed values.
    public let description: String
    package init(_ description: String) { self.description = description }
}

/// The program does not exist at the path, is not on the PATH, or cannot be executed.
public struct BinaryNotFoundError: MintmarkError {
    /// The program that could not be started: a path or a name.
    public let binary: String
    /// The error message of the operating system.
    public let reason: String

    public var description: String {
        "The program \(binary)\(binary.contains("/") ? "" : " on the PATH") cannot be started: \(reason). Install Mintmark, "
            + "or build it in its repository (clients/shell/mintmark --version creates .build/mintmark). Then set its path with binary: … or "
            + "MINTMARK_BINARY, or put it on the PATH."
    }
}

/// The program is older than this client, or lacks one of its methods.
public struct BinaryTooOldError: MintmarkError {
    public let binary: String
    /// The version that the program reported, or nil if it lacks a method.
    public let version: String?
    /// The error that the program returned, if it lacks a method.
    public let answer: Answer?

    public var description: String {
        let problem = answer.map { "does not have the method \($0.method)" } ?? "is Mintmark \(version ?? "")"
        return
            "\(binary) \(problem), which is older than this client for Mintmark \(contractVersion). Install a newer program, or set the path "
            + "of another one with binary: … or MINTMARK_BINARY."
    }
}

/// The process ended before it returned a response. It is unknown whether the call took effect.
public struct ProcessEndedError: MintmarkError {
    public let binary: String
    /// The exit status, or nil if a signal ended the process.
    public let exitStatus: Int?
    /// The signal that ended it.
    public let signal: Int?
    /// The last lines that the process wrote to standard error.
    public let lastLogLines: [String]
    /// The method that was waiting for a response.
    public let method: String
    /// The recommended next action.
    public let advice: String

    public var description: String {
        let how = exitStatus.map { "exit status \($0)" } ?? signal.map { "signal \($0)" } ?? "status unknown"
        var parts = ["\(method): the process \(binary) ended before it returned a response: \(how)."]
        if exitStatus == 2 { parts.append("The store cannot be used; mintmark doctor reports the reason.") }
        if exitStatus == 64 {
            parts.append("Its arguments are not valid: an option has a wrong value, or the program is older than this client.")
        }
        parts.append(advice)
        if !lastLogLines.isEmpty { parts.append("Its last log lines: " + lastLogLines.joined(separator: "\n")) }
        return parts.joined(separator: " ")
    }
}

/// The process wrote output that is not valid Mintmark output, or a result has an unexpected type.
public struct ProtocolError: MintmarkError {
    /// The program, if its output is not valid. The process was stopped.
    public let binary: String?
    /// The method, if only its result has an unexpected type.
    public let method: String?
    public let reason: String

    init(binary: String, reason: String) { (self.binary, method, self.reason) = (binary, nil, reason) }

    init(method: String, reason: String) { (binary, self.method, self.reason) = (nil, method, reason) }

    public var description: String {
        if let method {
            return "The result of \(method) does not match the contract of this client: \(reason). The program may have another version: "
                + "compare mintmark --version. m.call(\"\(method)\", …).json is the result as it is."
        }
        return "\(binary ?? "") does not respond like Mintmark: \(reason). Is it the right program? Set another path with binary: … or "
            + "MINTMARK_BINARY."
    }
}

/// The call took longer than its time limit. The request was canceled but may have taken effect.
public struct CallTimeoutError: MintmarkError {
    public let method: String
    public let timeout: Duration
    public var description: String {
        "\(method) took longer than its time limit of \(timeout) and was canceled. The call may have taken effect."
    }
}

/// The client or the CredentialsProvider was already closed.
public struct ClientClosedError: MintmarkError {
    public let method: String
    private let what: String

    package init(method: String) { (self.method, what) = (method, "client that is closed. Start a new one") }

    init(ofProvider method: String) { (self.method, what) = (method, "CredentialsProvider that is closed. Create a new one") }

    public var description: String { "\(method) was called on a \(what)." }
}
