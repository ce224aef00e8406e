import Arguments
import Contract
import Mintmark

/// The reason a tool gets no credentials or no token. Its message is one line without secrets.
struct ToolFailure: Error, Equatable {
    /// The exit status: 1 for a refusal, 2 for a store that cannot be used, 3 if no user is signed in, 64 for wrong usage.
    let status: Int32
    /// The type of the error, such as `assumeRoleDenied`.
    let code: String
    let message: String

    /// - Parameter message: Line breaks and other control characters are replaced with spaces.
    init(_ status: Int32, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = Self.line(message)
    }

    init(_ error: any Error) {
        switch error {
        case let failure as ToolFailure: self = failure
        case let refused as Calls.Refused: self.init(type: refused.type, message: refused.message)
        case let usage as ValidationError: self.init(64, "invalidUsage", usage.message)
        default:
            let known = contractError(error)
            self.init(type: known.map { Swift.type(of: $0).type } ?? "internalError", message: known?.message ?? "\(error)")
        }
    }

    private init(type: String, message: String) {
        let isOfStore = Contract.ErrorTable.all.contains { $0.type == type && $0.isStoreError }
        self.init(isOfStore ? 2 : 1, type, message)
    }

    /// Whether the same call can succeed later: the store, the issuer of the token or AWS STS cannot be reached.
    var isTemporary: Bool {
        status == 2 || Self.temporary.contains(code)
    }

    private static let temporary: Set = [
        "stsUnavailable", "providerUnavailable", "IDPCommunicationError", "Throttling", "ThrottlingException", "InternalFailure",
        "ServiceUnavailable", "tokenCommandFailed",
    ]

    /// Prints the error to standard error.
    ///
    /// - Returns: The error with which to exit.
    func printed() -> ExitCode {
        Printing.err("\(Printing.errorWord) \(code): \(message)")
        return ExitCode(status)
    }

    /// Runs `body` and prints the error that it throws, except for errors that the caller of the command handles.
    static func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            if error is ExitCode || error is ValidationError { throw error }
            throw ToolFailure(error).printed()
        }
    }

    static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.value < 0x20 || 0x7F..<0xA0 ~= $0.value ? " " : $0 }
        return String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
    }
}
