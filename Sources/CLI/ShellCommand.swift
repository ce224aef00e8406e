import Arguments
import Glibc
import JSON
import Mintmark

/// `mintmark shell`
struct ShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell", abstract: "Call methods interactively on one store.",
        discussion: """
            Each line is a method with its parameters in the notation of `mintmark call`, a line of JSON-RPC, or a command that begins with
            a dot. Tab completes; ? at the end of a line describes the next parameter. .help explains the rest.

              mintmark shell --store shop.db
              echo 'tenant.list' | mintmark shell --store shop.db

            If standard input is not a terminal, one result is printed per line, and the first error ends the command.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var color: ColorOption

    @Flag(help: "Continue after an error if standard input is not a terminal.")
    var keepGoing = false

    func run() throws {
        var settings = options.settings
        settings.isBrief = true
        let session = try ShellSession(settings) { topic in _ = try HelpTopics.handle(topic.split(separator: " ").map(String.init)[...]) }
        defer { session.close() }
        guard isatty(0) == 1 else { return try runLines(session) }
        try session.banner()
        var history = ShellHistory()
        var editor = LineEditor()
        editor.complete = { session.completion.candidates($0, variables: session.variables.names) }
        editor.explain = { session.completion.explanation($0) }
        while true {
            editor.history = history.lines
            guard var line = Self.line(&editor, session.prompt) else { return }
            while ShellWords.isIncomplete(line), let more = Self.line(&editor, "   ...> ") { line += "\n" + more }
            history.add(line)
            do {
                session.history = history.lines
                if try !session.run(line) { return }
            } catch { _ = session.report(error) }
        }
    }

    /// Returns a line, an empty line after Ctrl-C, or `nil` at the end.
    private static func line(_ editor: inout LineEditor, _ prompt: String) -> String? {
        switch editor.read(prompt: prompt) {
        case .line(let line): line
        case .interrupted: ""
        case .end: nil
        }
    }

    private func runLines(_ session: ShellSession) throws {
        let input = LineInput(descriptor: 0)
        session.nextLine = { input.next() }
        var failure: ExitCode?
        while var line = input.next() {
            while ShellWords.isIncomplete(line), let more = input.next() { line += "\n" + more }
            do { if try !session.run(line) { break } } catch {
                failure = failure ?? session.report(error)
                if !keepGoing { break }
            }
        }
        if let failure { throw failure }
    }
}
