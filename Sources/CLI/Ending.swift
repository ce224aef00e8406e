import ArgumentParser
import Glibc
import Mintmark

/// How the process ends when a command did not end well.
enum Ending {
    /// Says what went wrong on standard error, and ends.
    static func end(with error: any Error, of command: any ParsableCommand.Type) -> Never {
        if contractError(error) != nil { return endUnparsed(with: Printing.failure(error)) }
        guard let refusal = error as? ValidationError else { return endUnparsed(with: error) }
        let name = command == MintmarkCommand.self ? "" : " \(command._commandName)"
        Printing.err("Error: \(refusal.message)\n  See 'mintmark\(name) --help' for more information.")
        exit(MintmarkCommand.exitCode(for: refusal).rawValue)
    }

    /// As the argument parser says it; what was asked for, such as help, goes to standard output.
    static func endUnparsed(with error: any Error) -> Never {
        let code = MintmarkCommand.exitCode(for: error)
        let text = MintmarkCommand.fullMessage(for: error)
        if text.isEmpty { exit(code.rawValue) }
        guard code.isSuccess else {
            Printing.err(text)
            exit(code.rawValue)
        }
        do { try Printing.out(text) } catch { exit(MintmarkCommand.exitCode(for: error).rawValue) }
        exit(0)
    }
}
