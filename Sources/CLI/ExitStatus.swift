import ArgumentParser
import Contract
import Glibc
import Mintmark
import Platform

/// Terminates the process when a command has failed.
enum ExitStatus {
    /// Prints the error to standard error and exits.
    static func end(with error: any Error, of command: any ParsableCommand.Type) -> Never {
        if contractError(error) != nil { return endUnparsed(with: Printing.failure(error)) }
        guard let refusal = error as? ValidationError else { return endUnparsed(with: error) }
        let name = command == MintmarkCommand.self ? "" : " \(command._commandName)"
        Printing.err("Error: \(refusal.message)\n  See 'mintmark\(name) --help' for more information.")
        exit(MintmarkCommand.exitCode(for: refusal).rawValue)
    }

    /// Prints the text of the argument parser and exits. Requested output, such as help, goes to standard output.
    static func endUnparsed(with error: any Error) -> Never {
        let code = MintmarkCommand.exitCode(for: error)
        let text = withoutFarFetched(MintmarkCommand.fullMessage(for: error))
        if text.isEmpty { exit(code.rawValue) }
        guard code.isSuccess else {
            Printing.err(text)
            exit(code.rawValue)
        }
        do { try Printing.out(text) } catch { exit(MintmarkCommand.exitCode(for: error).rawValue) }
        exit(0)
    }

    /// Removes a suggestion of the argument parser that is not similar to the given name.
    private static func withoutFarFetched(_ text: String) -> String {
        let parts = text.split(separator: "'", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, parts[2] == ". Did you mean ", parts[4].hasPrefix("?"),
            NearestNames.of(String(parts[1]), among: [String(parts[3])]).isEmpty
        else { return text }
        return "\(parts[0])'\(parts[1])'.\(parts[4].dropFirst())"
    }
}
