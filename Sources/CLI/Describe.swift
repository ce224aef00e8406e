import ArgumentParser
import Contract
import JSON

/// `mintmark describe`
struct Describe: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Say what a method takes, answers and refuses.")

    @Argument(help: "The method, such as token.mintForDeveloper.")
    var method: String

    @Flag(help: "Print the method's OpenRPC object instead.")
    var json = false

    func run() throws {
        guard let info = Contract.MethodTable.all.first(where: { $0.name == method }) else {
            let nearest = Contract.NearestNames.of(method, among: Contract.MethodTable.all.map(\.name))
            let hint = nearest.isEmpty ? "mintmark methods lists them all." : "Did you mean \(nearest.joined(separator: " or "))?"
            throw ValidationError("There is no method \(method). \(hint)")
        }
        if json {
            let object = try JSONValue(parsing: info.openRPC.description)
            return Printing.out(Printing.pretty(object))
        }
        Printing.out("\(Printing.bold(info.name))\n  \(info.summary)\n")
        Printing.out("  \(info.description)\n")
        let caller = info.caller == .public ? "anyone who can prove it (public)" : "the developer"
        Printing.out("  For \(caller). \(info.isReadOnly ? "Reads only." : "May change the store.")\n")
        list("Parameters", info.params, requirement: true)
        list("Result", info.result, requirement: false)
        let equivalents = (try? JSONValue(parsing: info.openRPC.description))?["x-equivalents"]?.object ?? [:]
        if !equivalents.isEmpty {
            let names = equivalents.members.map { "\($0.value.string ?? $0.value.text) (\($0.name))" }
            Printing.out("\(Printing.bold("Elsewhere called"))\n  \(names.joined(separator: ", "))\n")
        }
        if !info.errors.isEmpty { Printing.out("\(Printing.bold("Errors"))\n  \(info.errors.joined(separator: ", "))") }
    }

    private func list(_ title: String, _ fields: [FieldInfo], requirement: Bool) {
        guard !fields.isEmpty else { return }
        Printing.out(Printing.bold(title))
        for field in fields {
            var notes = [field.type]
            if requirement { notes.append(field.isRequired ? "required" : field.defaultValue.map { "default \($0)" } ?? "optional") }
            Printing.out("  \(Printing.cyan(field.name))  \(Printing.dim(notes.joined(separator: ", ")))")
            if !field.description.isEmpty { Printing.out("      \(field.description)") }
        }
        Printing.out("")
    }
}
