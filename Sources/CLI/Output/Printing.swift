import Arguments
import Contract
import Glibc
import JSON
import Mintmark

/// Prints text for users.
enum Printing {
    /// A standard stream.
    enum Stream: Int32 {
        case output = 1
        case error = 2
    }

    private static let colored: [Stream: Bool] = [.output: ColorChoice.isUsed(on: .output), .error: ColorChoice.isUsed(on: .error)]

    /// The word before an error message on standard error.
    static var errorWord: String { red("error", on: .error) }

    /// Returns a number with a noun: `1 record`, `2 records`.
    static func count(_ number: Int64, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    /// Writes to standard output.
    ///
    /// - Throws: `ExitCode`: 0 if the reader has closed the pipe, 74 (EX_IOERR of sysexits.h) after another error, which has been printed.
    static func out(_ text: String, terminator: String = "\n") throws {
        if Pager.collect(text + terminator) { return }
        switch put(text + terminator, 1) {
        case 0: return
        case EPIPE: throw ExitCode.success
        case let reason:
            let why = String(cString: strerror(reason))
            err("\(errorWord) Standard output cannot be written: \(why). The command may already have made its changes.")
            throw ExitCode(74)
        }
    }

    /// Writes to standard error. Errors are ignored, because there is no other way to report them.
    static func err(_ text: String, terminator: String = "\n") { _ = put(text + terminator, 2) }

    /// Prints an error to standard error.
    ///
    /// - Returns: The error with which to exit.
    static func failure(_ error: any Error) -> any Error {
        guard let known = contractError(error) else { return error }
        let violations = (known as? InvalidParams)?.violations ?? []
        return failure(
            type: Swift.type(of: known).type, message: known.message,
            violations: violations.map { ($0.pointer, $0.message) })
    }

    static func failure(type: String, message: String, violations: [(pointer: String, message: String)]) -> any Error {
        // The message of an error with violations contains the first few of them; all of them are listed below it, with their pointers.
        let end = violations.first.flatMap { first in first.message.isEmpty ? nil : message.firstRange(of: first.message)?.lowerBound }
        let head = end.map { message[..<$0] } ?? message[...]
        err("\(errorWord) \(type): \(head.last == " " ? head.dropLast() : head)")
        for violation in violations { err("  " + line(violation.pointer, violation.message)) }
        return ExitCode(Contract.ErrorTable.all.contains { $0.type == type && $0.isStoreError } ? 2 : 1)
    }

    /// Returns the line for a violation. The message names the parameter; only the place of a member inside a parameter is added.
    private static func line(_ pointer: String, _ message: String) -> String {
        let name = pointer.dropFirst()
        let isParameter = !name.contains("/" as Character) && message.hasPrefix(name + " ")
        return pointer.isEmpty || isParameter ? message : "\(pointer): \(message)"
    }

    /// Returns the message of an error.
    static func reason(_ error: any Error) -> String { contractError(error)?.message ?? "\(error)" }

    /// - Returns: 0, or the `errno` value if not everything was written.
    private static func put(_ text: String, _ descriptor: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return count < 0 ? errno : EIO }
            bytes = bytes.dropFirst(count)
        }
        return 0
    }

    static func bold(_ text: String, on stream: Stream = .output) -> String { paint(text, "1", stream) }
    static func dim(_ text: String) -> String { paint(text, "2", .output) }
    static func green(_ text: String) -> String { paint(text, "32", .output) }
    static func red(_ text: String, on stream: Stream = .output) -> String { paint(text, "31", stream) }
    static func cyan(_ text: String) -> String { paint(text, "36", .output) }

    private static func paint(_ text: String, _ code: String, _ stream: Stream) -> String {
        colored[stream] == true ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// Returns indented JSON with one member or element per line.
    static func pretty(_ value: JSONValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { "\(inner)\(cyan(JSONValue.string($0.name).text)): \(pretty($0.value, indent: inner))" }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            return "[\n" + elements.map { inner + pretty($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        default: return TextWidth.escaped(value.text)
        }
    }
}
