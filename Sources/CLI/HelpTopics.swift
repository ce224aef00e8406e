import Arguments
import Contract
import JSON
import Platform

/// `mintmark help`: prints the help of a command, a guide, a method or an error, or searches all of them.
enum HelpTopics {
    /// Handles the arguments after `help`.
    ///
    /// - Returns: `false` if the argument parser should handle them.
    /// - Throws: `ValidationError` for an unknown topic; `ExitCode` 1 if nothing is found.
    static func handle(_ arguments: ArraySlice<String>) throws -> Bool {
        guard let first = arguments.first else {
            try Printing.out(help(of: MintmarkCommand.self) + "\n" + topicList(Documentation()))
            return true
        }
        if first == "-k" {
            try search(arguments.dropFirst().joined(separator: " "))
            return true
        }
        let commands = MintmarkCommand.configuration.subcommands
        // A guide says more than the list of the commands of a group.
        func isGuide(_ group: any ParsableCommand.Type) -> Bool {
            !group.configuration.subcommands.isEmpty && arguments.count == 1 && Documentation().topics.contains { $0.name == first }
        }
        if let command = commands.first(where: { $0._commandName == first }), !isGuide(command) {
            guard arguments.count == 1, let title = Documentation().topics.first(where: { $0.name == first })?.title else {
                try Printing.out(String(help(of: command).dropLast()))
                return true
            }
            try Printing.out(help(of: command) + "\nThe guide: mintmark help '\(title)'")
            return true
        }
        if first == "help" || first.hasPrefix("-") {
            try Printing.out(String(help(of: MintmarkCommand.self).dropLast()))
            return true
        }
        if let group = optionGroups.first(where: { $0.name == first }), arguments.count == 1 {
            try Printing.out(group.text)
            return true
        }
        if first == "environment", arguments.count == 1 {
            try Printing.out(EnvironmentVariables(Documentation()).text(width: TerminalText.usualWidth))
            return true
        }
        try show(arguments.joined(separator: " "), Documentation())
        return true
    }

    /// Returns the help of a command. Options that many commands share have their own topics.
    static func help(of command: any ParsableCommand.Type) -> String {
        command.helpMessage(program: program(of: command), width: TerminalText.usualWidth) { titles in
            titles.map { "\($0) options: see mintmark help \(topic(ofGroup: $0))." }.joined(separator: " ")
        }
    }

    /// Returns the words before the name of a command: `mintmark`, or `mintmark mfa` for `enroll`.
    static func program(of command: any ParsableCommand.Type) -> String {
        let group = MintmarkCommand.configuration.subcommands.first { group in group.configuration.subcommands.contains { $0 == command } }
        return group.map { "mintmark \($0._commandName)" } ?? "mintmark"
    }

    /// Returns the topic of a group of options. `token` and `credentials` already have another meaning.
    private static func topic(ofGroup title: String) -> String {
        ["Store", "Mail"].contains(title) ? title.lowercased() : "\(title.lowercased())-options"
    }

    /// The groups of options that commands share, as topics.
    private static var optionGroups: [(name: String, text: String)] {
        let shared = Serve.options + ExecCommand.options.filter { !["Store", "Mail"].contains($0.group) }
        var titles: [String] = []
        for option in shared where !option.group.isEmpty && !titles.contains(option.group) { titles.append(option.group) }
        return titles.map { title in
            let options = shared.filter { $0.group == title }
            let lines = options.flatMap { HelpText.item($0.usage, $0.description, TerminalText.usualWidth) }
            let note = "Each option can also be given as a variable: \(options[0].names[0]) as \(ManPage.variable(options[0].names[0]))."
            return (
                topic(ofGroup: title), ([Printing.bold(title.uppercased() + " OPTIONS:")] + lines + ["", note]).joined(separator: "\n")
            )
        }
    }

    private static func topicList(_ documentation: Documentation) -> String {
        let subjects = [
            "store": "a store", "mail": "sending mail", "credentials-options": "temporary credentials", "token-options": "a token",
        ]
        let groups = optionGroups.map { ($0.name, "The options for \(subjects[$0.name] ?? $0.name)") }
        let topics = documentation.topics.map { ($0.name, $0.title) } + groups + [("environment", "Environment variables")]
        let width = topics.map(\.0.count).max() ?? 0
        let lines = topics.map { name, title in "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(title)" }
        return
            (["TOPICS:"] + lines + ["", "  See 'mintmark help <topic>' for a guide, and 'mintmark help -k <word>' to search everything."])
            .joined(separator: "\n")
    }

    // MARK: One topic

    private static func show(_ given: String, _ documentation: Documentation) throws {
        let asked = name(given)
        if let guide = documentation.topics.first(where: { name($0.name) == asked || name($0.title) == asked }) {
            return try show(guide, documentation)
        }
        if let method = Contract.MethodTable.all.first(where: { $0.name == given }) {
            return try Describe.parse([method.name]).run()
        }
        if let error = Contract.ErrorTable.all.first(where: { $0.type == given || String($0.code) == given }) {
            return try ErrorDescription.show(error)
        }
        let begun = documentation.topics.filter { name($0.name).hasPrefix(asked) || name($0.title).hasPrefix(asked) }
        if begun.count == 1 { return try show(begun[0], documentation) }
        if begun.count > 1 {
            throw ValidationError("'\(given)' is the beginning of several topics: \(begun.map(\.name).joined(separator: ", ")).")
        }
        let commands = MintmarkCommand.configuration.subcommands.map { $0._commandName }
        let names =
            commands + documentation.topics.map(\.name) + ["environment"] + Contract.MethodTable.all.map(\.name)
            + Contract.ErrorTable.all.map(\.type)
        let hint = NearestNames.hint(given, among: names)
        let word = given.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } ? given : "<word>"
        Printing.err(
            "Error: Unknown command or topic '\(given)'.\(hint)\n  See 'mintmark help' for all topics, and 'mintmark help -k \(word)' to search."
        )
        throw ExitCode.validationFailure
    }

    /// Returns a name for comparison: without the case and the number of the file.
    private static func name(_ text: String) -> String {
        let lowercased = text.lowercased()
        let rest = lowercased.drop(while: \.isNumber)
        return rest.count < lowercased.count && rest.hasPrefix("-") ? String(rest.dropFirst()) : lowercased
    }

    private static func show(_ guide: Documentation.Guide, _ documentation: Documentation) throws {
        let markdown = Markdown(guide.text)
        try Printing.out(TerminalText(markdown).lines.joined(separator: "\n"))
        var others: [Documentation.Guide] = []
        for target in markdown.links {
            let file = target.prefix { $0 != "#" }
            guard file.hasSuffix(".md"), let other = documentation.topics.first(where: { $0.name == file.dropLast(3) }),
                other.name != guide.name, !others.contains(where: { $0.name == other.name })
            else { continue }
            others.append(other)
        }
        if others.isEmpty { return }
        try Printing.out("\n" + Printing.bold("See also") + " (mintmark help NAME)")
        let width = others.map(\.name.count).max() ?? 0
        for other in others {
            let padding = String(repeating: " ", count: width - other.name.count + 2)
            try Printing.out("\(Printing.cyan(other.name))\(padding)\(other.title)")
        }
    }

    // MARK: Search

    private static func search(_ given: String) throws {
        let word = given.lowercased()
        guard word.contains(where: { $0 != " " }) else {
            throw ValidationError("-k needs a word to search for: mintmark help -k WORD")
        }
        let entries = SearchEntry.all(Documentation()).filter { $0.contains(word) }
        if entries.isEmpty {
            Printing.err("No guide, method or error contains '\(given)'.")
            throw ExitCode(1)
        }
        let width = TerminalText.usualWidth
        for kind in [SearchEntry.Kind.guide, .method, .error] {
            let found = entries.filter { $0.kind == kind }
            if found.isEmpty { continue }
            try Printing.out(Printing.bold(kind.heading))
            let longest = min(found.map(\.topic.count).max() ?? 0, 30)
            for entry in found {
                let padding = String(repeating: " ", count: max(longest - entry.topic.count, 0) + 2)
                let excerpt = entry.excerpt(around: word, columns: width - 2 - max(longest, entry.topic.count) - 2)
                try Printing.out("  \(Printing.cyan(entry.topic))\(padding)\(marked(excerpt, word))")
            }
            try Printing.out("")
        }
        try Printing.out("To read one, run mintmark help NAME.")
    }

    private static func marked(_ text: String, _ word: String) -> String {
        guard let range = text.lowercased().firstRange(of: word), text.lowercased().count == text.count else { return text }
        let start = text.index(
            text.startIndex, offsetBy: text.lowercased().distance(from: text.lowercased().startIndex, to: range.lowerBound))
        let end = text.index(start, offsetBy: word.count)
        return text[..<start] + Printing.bold(String(text[start..<end])) + text[end...]
    }
}
