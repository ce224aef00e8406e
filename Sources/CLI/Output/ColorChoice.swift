import Arguments
import Glibc

/// When output is colored.
enum ColorChoice: String, CaseIterable {
    case auto, always, never

    /// The choice on the command line. Every command accepts `--color`, so it is removed before the other arguments are parsed.
    nonisolated(unsafe) private static var given: ColorChoice?

    /// Returns the arguments without `--color`.
    ///
    /// - Throws: `ValidationError` for an unknown choice.
    static func taken(from arguments: [String]) throws -> [String] {
        guard arguments.contains(where: { $0.hasPrefix("--color") }) else { return arguments }
        var rest: [String] = []
        var left = arguments[...]
        while let argument = left.popFirst() {
            if argument == "--" { return rest + [argument] + left }
            if argument == "--color" {
                guard let value = left.popFirst() else { throw ValidationError("--color takes auto, always or never.") }
                given = try choice(value, from: "--color")
            } else if argument.hasPrefix("--color=") {
                given = try choice(String(argument.dropFirst("--color=".count)), from: "--color")
            } else {
                rest.append(argument)
            }
        }
        return rest
    }

    /// - Throws: `ValidationError` for an unknown choice in MINTMARK_COLOR.
    static func checkEnvironment() throws {
        if let value = Environment["COLOR"] { _ = try choice(value, from: "MINTMARK_COLOR") }
    }

    private static func choice(_ text: String, from source: String) throws -> ColorChoice {
        guard let choice = ColorChoice(rawValue: text) else {
            throw ValidationError("\(source) is one of auto, always, never, not '\(text)'.")
        }
        return choice
    }

    /// Returns whether the output to a stream is colored. The command line takes precedence over MINTMARK_COLOR, which takes precedence
    /// over NO_COLOR (no-color.org), FORCE_COLOR and CLICOLOR_FORCE (force-color.org) if they are not empty. Otherwise a terminal gets
    /// colors, unless TERM is unset or `dumb`.
    static func isUsed(on stream: Printing.Stream) -> Bool {
        switch given ?? Environment["COLOR"].flatMap({ ColorChoice(rawValue: $0) }) ?? .auto {
        case .always: return true
        case .never: return false
        case .auto:
            if Environment.plain("NO_COLOR") != nil { return false }
            if ["FORCE_COLOR", "CLICOLOR_FORCE"].contains(where: { Environment.plain($0).map { $0 != "0" } ?? false }) { return true }
            return Environment.plain("TERM").map { $0 != "dumb" } ?? false && isatty(stream.rawValue) == 1
        }
    }
}

/// The option for help and completions. `ColorChoice.taken` parses it.
struct ColorOption: ParsableArguments {
    @Option(help: "When output is colored: auto, always or never. (default: auto)", completion: .list(ColorChoice.allCases.map(\.rawValue)))
    var color: String?
}
