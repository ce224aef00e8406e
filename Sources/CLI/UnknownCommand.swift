import Arguments
import Contract
import Platform

/// Rejects a first word that is not a command, before it is parsed as an argument of `serve`.
enum UnknownCommand {
    /// - Throws: `ValidationError` with a suggestion.
    static func refuse(_ arguments: [String]) throws {
        let rest = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        guard let word = rest.first, !word.hasPrefix("-") else { return }
        let known = MintmarkCommand.configuration.subcommands.map { $0._commandName } + ["help"]
        if known.contains(word) { return }
        if Contract.MethodTable.all.contains(where: { $0.name == word }) {
            throw ValidationError("\(word) is a method, not a command. Run mintmark call \(word)")
        }
        if let method = MethodInfo.called(word, among: Contract.MethodTable.all).first {
            throw ValidationError("'\(word)' is not a command. Its equivalent is the method \(method.name): mintmark describe \(word)")
        }
        let hint = NearestNames.hint(word, among: known, otherwise: "The commands are \(known.joined(separator: ", ")).")
        throw ValidationError("Unknown command '\(word)'.\(hint)")
    }
}
