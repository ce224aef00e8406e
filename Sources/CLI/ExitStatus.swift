import Arguments
import Contract
import Glibc
import Mintmark
import Platform

/// Terminates the process when a command has failed.
enum ExitStatus {
    /// Prints the error to standard error and exits.
    static func end(with error: any Error, of command: any ParsableCommand.Type) -> Never {
        // The output before the error.
        if !(error is Request) { try? Pager.finish() }
        if contractError(error) != nil { return end(with: Printing.failure(error), of: command) }
        switch error {
        case let code as ExitCode: exit(code.rawValue)
        case let refusal as ValidationError: refuse(refusal.message, command)
        case let failure as ParseFailure: refuse(failure.message, failure.command, showsUsage: failure.isIncomplete)
        case Request.version: show(Mintmark.version)
        case Request.help(let command): show(HelpTopics.help(of: command))
        default:
            Printing.err("\(Printing.errorWord) \(error)")
            exit(1)
        }
    }

    private static func refuse(_ message: String, _ command: any ParsableCommand.Type, showsUsage: Bool = false) -> Never {
        let program = HelpTopics.program(of: command)
        let name = command == MintmarkCommand.self ? program : "\(program) \(command._commandName)"
        let usage = showsUsage ? "\n  Usage: \(command.usage(program: program))" : ""
        Printing.err("Error: \(message)\(usage)\n  See '\(name) --help' for more information.")
        exit(ExitCode.validationFailure.rawValue)
    }

    private static func show(_ text: String) -> Never {
        do {
            try Printing.out(text.hasSuffix("\n") ? String(text.dropLast()) : text)
            try Pager.finish()
        } catch { exit((error as? ExitCode)?.rawValue ?? 1) }
        exit(0)
    }
}
