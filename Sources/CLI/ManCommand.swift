import Arguments
import Glibc
import Platform

/// `mintmark man`
struct ManCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man", abstract: "Show the manual page of the program or of one command.",
        discussion: """
            On a terminal, man shows the page; without man, the page is plain text. Otherwise, the page is printed in the macros of man(7).

              mintmark man
              mintmark man call
              mintmark man --out man1
            """)

    @Option(
        help: ArgumentHelp("The directory for all manual pages. Other files in it stay.", valueName: "directory"), completion: .directory)
    var out: String?

    @OptionGroup var pager: PagerOption

    @Argument(
        help: "The name of a command. (default: the page of the program)",
        completion: .list(["serve", "call", "shell", "run", "mcp", "console", "login", "token", "doctor", "backup", "copy"]))
    var command: String?

    @OptionGroup var output: ColorOption

    func validate() throws {
        if out != nil, command != nil { throw ValidationError("--out writes the pages of all commands. Leave out the command.") }
        if out?.isEmpty ?? false { throw ValidationError("--out must name a directory.") }
    }

    func run() throws {
        let table = CommandTable(of: MintmarkCommand.self)
        if let out { return try DocumentationFolder(path: out).write(manPages: ManPage.all(table)) }
        let names = table.commands.map(\.name)
        if let command, !names.contains(command) {
            let hint = NearestNames.hint(command, among: names, otherwise: "The commands are \(names.joined(separator: ", ")).")
            throw ValidationError("Unknown command '\(command)'.\(hint)")
        }
        let page = command.map { ManPage.text(of: $0, table) } ?? ManPage.text(table)
        guard isatty(1) == 1 else { return try Printing.out(String(page.dropLast())) }
        // man has a pager of its own.
        if Pager.show(page, in: "command -v man >/dev/null || exit 127; exec man \(pager.noPager ? "-P cat " : "")-l -") { return }
        try Printing.out(plainText)
    }

    /// The help of the command, where man is not installed.
    private var plainText: String {
        let types = MintmarkCommand.configuration.subcommands
        let type = command.flatMap { name in types.first { $0._commandName == name } }
        return String(HelpTopics.help(of: type ?? MintmarkCommand.self).dropLast())
    }
}
