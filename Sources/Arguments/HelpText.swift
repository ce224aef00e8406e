/// The description of an option, for help, manual pages and completions.
public struct OptionInfo: Sendable {
    /// All names with their hyphens; empty for an argument.
    public let names: [String]
    /// The name of the value, or `nil` for a flag.
    public let value: String?
    public let isPositional: Bool
    public let isOptional: Bool
    public let isRepeated: Bool
    public let description: String
    /// The title of its option group, or an empty string.
    public let group: String
    public let completion: CompletionKind?

    /// The option as in a usage line: `--store <path>`.
    public var usage: String {
        if isPositional {
            let name = "<\(value ?? "")>" + (isRepeated ? " ..." : "")
            return isOptional ? "[\(name)]" : name
        }
        return names.joined(separator: ", ") + (value.map { " <\($0)>" } ?? "")
    }
}

extension ParsableCommand {
    /// The options and arguments of the command, in the order of their properties.
    public static var options: [OptionInfo] {
        Declarations(of: Self()).entries.map { entry in
            let slot = entry.slot
            return OptionInfo(
                names: entry.flags, value: slot.kind == .flag ? nil : entry.valueName, isPositional: slot.kind == .argument,
                isOptional: !slot.isRequired, isRepeated: slot.isRepeated, description: slot.help.text, group: entry.title,
                completion: slot.completion)
        }
    }

    /// The usage line: `mintmark call [<options>] <method> [<items> ...]`.
    public static func usage(program: String) -> String {
        let all = options
        let path = configuration.subcommands.isEmpty || configuration.version.isEmpty ? "\(program) \(_commandName)" : program
        if !configuration.subcommands.isEmpty { return "\(path) <subcommand>" }
        let arguments = all.filter(\.isPositional).map(\.usage)
        let required = all.filter { !$0.isPositional && !$0.isOptional }.map(\.usage)
        let hasOptions = all.contains { !$0.isPositional && $0.isOptional }
        return ([path] + (hasOptions ? ["[<options>]"] : []) + required + arguments).joined(separator: " ")
    }

    /// Returns the help of the command: what it does, its usage and its options. Options in a group with a title are left out; `groups`
    /// says where they are described.
    public static func helpMessage(program: String, width: Int, groups: (_ titles: [String]) -> String = { _ in "" }) -> String {
        var lines = HelpText.wrapped("OVERVIEW: " + configuration.abstract, width)
        if !configuration.discussion.isEmpty { lines += [""] + HelpText.wrapped(configuration.discussion, width) }
        lines += ["", "USAGE: " + usage(program: program), ""]
        let all = options
        let arguments = all.filter(\.isPositional)
        if !arguments.isEmpty {
            lines += ["ARGUMENTS:"] + arguments.flatMap { HelpText.item("<\($0.value ?? "")>", $0.description, width) } + [""]
        }
        let own = all.filter { !$0.isPositional && $0.group.isEmpty }
        lines.append("OPTIONS:")
        for option in own { lines += HelpText.item(option.usage, option.description, width) }
        if !configuration.version.isEmpty { lines += HelpText.item("--version", "Show the version.", width) }
        lines += HelpText.item("-h, --help", "Show help information.", width)
        var titles: [String] = []
        for option in all where !option.group.isEmpty && !titles.contains(option.group) { titles.append(option.group) }
        let more = groups(titles)
        if !more.isEmpty { lines += [""] + HelpText.wrapped(more, width) }
        if !configuration.subcommands.isEmpty {
            lines += ["", "SUBCOMMANDS:"]
            for command in configuration.subcommands {
                if let heading = configuration.headings[command._commandName] { lines += ["", "\(heading):"] }
                let isDefault = configuration.defaultSubcommand.map { $0 == command } ?? false
                lines += HelpText.item(command._commandName + (isDefault ? " (default)" : ""), command.configuration.abstract, width)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Lays out help.
public enum HelpText {
    private static let column = 26

    /// Returns the lines of an option and its description.
    public static func item(_ name: String, _ description: String, _ width: Int) -> [String] {
        let margin = String(repeating: " ", count: column)
        let lines = wrapped(description, max(20, width - column))
        let head = "  " + name
        guard head.count < column, let first = lines.first else { return [head] + lines.map { margin + $0 } }
        return [head + String(repeating: " ", count: column - head.count) + first] + lines.dropFirst().map { margin + $0 }
    }

    /// Breaks the lines of a text. Indented lines stay as they are, because they are commands; other lines of a paragraph are joined.
    public static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || line.hasPrefix("  ") {
                lines.append(String(line))
                isOpen = false
                continue
            }
            if !isOpen { lines.append("") }
            isOpen = true
            for word in line.split(separator: " ") {
                let last = lines[lines.count - 1]
                if last.isEmpty {
                    lines[lines.count - 1] = String(word)
                } else if last.count + 1 + word.count <= width {
                    lines[lines.count - 1] = last + " " + word
                } else {
                    lines.append(String(word))
                }
            }
        }
        return lines
    }
}
