import Arguments

/// The commands with their options, as the argument parser declares them.
struct CommandTable {
    struct Option {
        /// All names with their hyphens.
        let names: [String]
        /// The name of the value, or `nil` for a flag.
        let value: String?
        let isPositional: Bool
        let isOptional: Bool
        let description: String

        /// The option as in a command line: `--store <path>`.
        var usage: String { names.joined(separator: ", ") + (value.map { " <\($0)>" } ?? "") }
    }

    struct Command {
        let name: String
        let abstract: String
        let discussion: String
        let options: [Option]

        /// The positional arguments of a usage line.
        var arguments: String {
            options.filter(\.isPositional).map { $0.isOptional ? "[<\($0.value ?? "")>]" : "<\($0.value ?? "")>" }.joined(separator: " ")
        }
    }

    let discussion: String
    let commands: [Command]

    /// Reads the table from the argument parser.
    ///
    /// - Parameter program: The command that contains the others.
    init(of program: any ParsableCommand.Type) {
        discussion = program.configuration.discussion
        let all = program.configuration.subcommands.map { type in
            Command(
                name: type._commandName, abstract: type.configuration.abstract, discussion: type.configuration.discussion,
                options: type.options.map(Self.option))
        }
        let help = Command(
            name: "help", abstract: "Show the help of a command, a guide, a method or an error.",
            discussion: "A topic is the name of a guide, its title, or the unique beginning of one of them.",
            options: [
                Option(names: [], value: "topic", isPositional: true, isOptional: true, description: "A command, guide, method or error."),
                Option(
                    names: ["-k"], value: "word", isPositional: false, isOptional: true,
                    description: "Search the guides, methods and errors for a word."),
                Option(
                    names: ["--no-pager"], value: nil, isPositional: false, isOptional: true,
                    description: "Do not start a pager on a terminal."),
            ])
        commands = all + [help]
    }

    /// The options of `serve`. Other commands have some of them.
    var serving: [Option] { commands.first { $0.name == "serve" }.map(proper) ?? [] }

    /// Returns the options that only this command has, without those that all commands have.
    func own(_ command: Command) -> [Option] {
        let common = command.name == "serve" ? [] : Set(serving.flatMap(\.names))
        return proper(command).filter { common.isDisjoint(with: $0.names) }
    }

    /// Returns the names of the options that the command shares with `serve`.
    func shared(_ command: Command) -> [String] {
        let common = Set(serving.flatMap(\.names))
        return command.name == "serve" ? [] : proper(command).flatMap(\.names).filter(common.contains)
    }

    /// Returns the options without those that all commands have.
    private func proper(_ command: Command) -> [Option] {
        command.options.filter { Set(["--help", "--version", "--color"]).isDisjoint(with: $0.names) }
    }

    private static func option(_ info: OptionInfo) -> Option {
        Option(
            names: info.names, value: info.value, isPositional: info.isPositional, isOptional: info.isOptional,
            description: info.description)
    }
}
