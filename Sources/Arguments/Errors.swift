/// A wrong command line. The message names the problem and the next step.
public struct ValidationError: Error, CustomStringConvertible {
    public let message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}

/// The exit code of a command that has already printed why it ends.
public struct ExitCode: Error, Equatable, Sendable {
    public let rawValue: Int32

    public init(_ rawValue: Int32) { self.rawValue = rawValue }

    public static let success = ExitCode(0)
    public static let failure = ExitCode(1)
    /// `EX_USAGE` of sysexits.h.
    public static let validationFailure = ExitCode(64)

    public var isSuccess: Bool { self == .success }
}

/// Text that was requested in place of a command.
public enum Request: Error {
    case help(any ParsableCommand.Type)
    case version
}
