import Arguments

/// `mintmark completions`
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a completion script for bash, zsh or fish.", discussion: "For bash: source <(mintmark completions bash)")

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell.lowercased()) else {
            throw ValidationError("Completions are available for bash, zsh and fish.")
        }
        try Printing.out(CompletionScript(program: "mintmark", root: MintmarkCommand.self).text(for: shell))
    }
}
