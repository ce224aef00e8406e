/// A shell for which completions are written.
public enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// Writes a completion script for all commands of a program.
public struct CompletionScript {
    private struct Command {
        let name: String
        let abstract: String
        let options: [OptionInfo]
    }

    private let program: String
    private let commands: [Command]
    private let standard: String?

    /// - Parameter more: Options of all commands, such as `--color`.
    public init(program: String, root: any ParsableCommand.Type) {
        self.program = program
        commands = root.configuration.subcommands.map {
            Command(name: $0._commandName, abstract: $0.configuration.abstract, options: $0.options)
        }
        standard = root.configuration.defaultSubcommand?._commandName
    }

    public func text(for shell: CompletionShell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private var names: [String] { commands.map(\.name) + ["help"] }

    private static func flags(_ command: Command) -> [String] { command.options.flatMap(\.names) + ["--help"] }

    // MARK: bash

    private var bash: String {
        var lines = [
            "#!/bin/bash", "", "_\(program)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=\(standard ?? "") place",
            "    COMPREPLY=()", "    for ((place = 1; place < COMP_CWORD; place++)); do",
            "        case ${COMP_WORDS[place]} in",
            "            \(names.joined(separator: "|"))) command=${COMP_WORDS[place]}; break ;;", "        esac", "    done",
            "    if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then",
            "        COMPREPLY=($(compgen -W '\(names.joined(separator: " "))' -- \"$word\"))", "        return", "    fi",
            "    case $command in",
        ]
        for command in commands {
            lines.append("        \(command.name))")
            let valued = command.options.filter { !$0.isPositional && $0.value != nil }
            if !valued.isEmpty {
                lines.append("            case $before in")
                for option in valued {
                    lines.append("                \(option.names.joined(separator: "|"))) \(Self.reply(option.completion)); return ;;")
                }
                lines.append("            esac")
            }
            lines.append("            if [[ $word == -* ]]; then")
            lines.append("                COMPREPLY=($(compgen -W '\(Self.flags(command).joined(separator: " "))' -- \"$word\"))")
            if let argument = command.options.first(where: \.isPositional) {
                lines += ["            else", "                \(Self.reply(argument.completion))"]
            }
            lines += ["            fi", "            ;;"]
        }
        lines += ["        help) COMPREPLY=($(compgen -W '\(names.joined(separator: " "))' -- \"$word\")) ;;"]
        return (lines + ["    esac", "}", "", "complete -o bashdefault -o default -F _\(program) \(program)"]).joined(separator: "\n")
    }

    private static func reply(_ completion: CompletionKind?) -> String {
        switch completion {
        case .list(let values): "COMPREPLY=($(compgen -W '\(values.joined(separator: " "))' -- \"$word\"))"
        case .file: "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"
        case .directory: "mapfile -t COMPREPLY < <(compgen -d -- \"$word\")"
        case nil: ":"
        }
    }

    // MARK: zsh

    private var zsh: String {
        var lines = [
            "#compdef \(program)", "", "_\(program)() {", "    local context state line", "    typeset -A opt_args",
            "    local -a commands=(",
        ]
        lines += commands.map { "        \(Self.quoted("\($0.name):\($0.abstract)"))" }
        lines += [
            "        'help:Show help.'", "    )", "    if ((CURRENT == 2)) && [[ ${words[2]} != -* ]]; then",
            "        _describe command commands", "        return", "    fi", "    case ${words[2]} in",
        ]
        for command in commands {
            let pattern = command.name == standard ? "\(command.name)|-*" : command.name
            lines.append("        \(pattern))")
            var specifications: [String] = []
            for option in command.options {
                let text = Self.escaped(option.description, ["[": "(", "]": ")", ":": "\\:"])
                let action = Self.zshAction(option.completion)
                if option.isPositional {
                    specifications.append(Self.quoted("\(option.isRepeated ? "*" : ""):\(option.value ?? ""):\(action)"))
                } else {
                    for name in option.names {
                        let value = option.value.map { ":\($0):\(action)" } ?? ""
                        specifications.append(Self.quoted("\(option.isRepeated ? "*" : "")\(name)[\(text)]\(value)"))
                    }
                }
            }
            lines += ["            shift words", "            ((CURRENT--))", "            _arguments \\"]
            lines += (specifications + ["'--help[Show help.]'"]).map { "                \($0) \\" }
            lines[lines.count - 1].removeLast(2)
            lines.append("            ;;")
        }
        return (lines + ["    esac", "}", "", "_\(program) \"$@\""]).joined(separator: "\n")
    }

    private static func zshAction(_ completion: CompletionKind?) -> String {
        switch completion {
        case .list(let values): "(\(values.joined(separator: " ")))"
        case .file: "_files"
        case .directory: "_files -/"
        case nil: " "
        }
    }

    // MARK: fish

    private var fish: String {
        let all = names.joined(separator: " ")
        var lines = ["complete -c \(program) -f"]
        for command in commands {
            lines.append(
                "complete -c \(program) -n 'not __fish_seen_subcommand_from \(all)' -a \(command.name) -d \(Self.quoted(command.abstract))")
            let condition = "complete -c \(program) -n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.options {
                let description = " -d \(Self.quoted(option.description))"
                if option.isPositional {
                    let values = Self.fishValues(option.completion)
                    if !values.isEmpty { lines.append(condition + values) }
                    continue
                }
                let flags = option.names.map { $0.hasPrefix("--") ? " -l \($0.dropFirst(2))" : " -s \($0.dropFirst())" }.joined()
                let value = option.value == nil ? "" : " -x" + Self.fishValues(option.completion)
                lines.append(condition + flags + value + description)
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func fishValues(_ completion: CompletionKind?) -> String {
        switch completion {
        case .list(let values): " -a '\(values.joined(separator: " "))'"
        case .file: " -a '(__fish_complete_path)'"
        case .directory: " -a '(__fish_complete_directories)'"
        case nil: ""
        }
    }

    private static func quoted(_ text: String) -> String { "'" + escaped(text, ["'": "'\\''"]) + "'" }

    /// Returns the text with some characters replaced.
    private static func escaped(_ text: String, _ replacements: [Character: String]) -> String {
        text.reduce(into: "") { result, character in result += replacements[character] ?? String(character) }
    }
}
