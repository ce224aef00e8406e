import Arguments
import Contract
import JSON
import Platform

/// `mintmark describe`
struct Describe: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Describe a method, a namespace, a type or an error.",
        discussion:
            """
            Shows the parameters, result and errors of a method, the methods of a namespace, the members of a type, or when an error occurs.

              mintmark describe token.mintForDeveloper
              mintmark describe SignedRequest
              mintmark describe invalidCode
              mintmark describe 4003
            """)

    @Argument(
        help: "The name of a method, namespace, type or error, or the number of an error.",
        completion: .list(Contract.MethodTable.all.map(\.name)))
    var method: String

    @Flag(help: "Print the OpenRPC object of the method, or the schema of the type.")
    var json = false

    @OptionGroup var pager: PagerOption

    @OptionGroup var output: ColorOption

    func run() throws {
        let types = TypeDescriptions()
        if let info = Contract.MethodTable.all.first(where: { $0.name == method }) {
            let object = try JSONValue(parsing: info.openRPC)
            if json { return try Printing.out(Printing.pretty(object)) }
            return try describe(info, object, types)
        }
        if let schema = types.schema(method) {
            return json ? try Printing.out(Printing.pretty(schema)) : try types.describe(method)
        }
        if let error = Contract.ErrorTable.all.first(where: { $0.type == method || String($0.code) == method }) {
            guard !json else { return try Printing.out(Printing.pretty(ErrorDescription.object(error))) }
            return try ErrorDescription.show(error)
        }
        let own = Contract.MethodTable.all.filter { $0.name.hasPrefix(method + ".") }
        if !own.isEmpty { return try Methods.list(own) }
        let called = MethodInfo.called(method, among: Contract.MethodTable.all)
        if called.count == 1, let info = called.first, !json {
            try Printing.out("In Mintmark, \(method) is \(Printing.bold(info.name)).\n")
            return try describe(info, try JSONValue(parsing: info.openRPC), types)
        }
        if called.count > 1, !json {
            try Printing.out("In Mintmark, \(method) is one of these methods:\n")
            return try Methods.list(called)
        }
        if method.isEmpty { throw ValidationError("Name a method. To list all methods, run mintmark methods.") }
        let hint = NearestNames.hint(
            method, among: Contract.MethodTable.all.map(\.name) + types.names + Contract.ErrorTable.all.map(\.type),
            otherwise: "To list all methods, run mintmark methods.")
        throw ValidationError("Unknown method \(method).\(hint)")
    }

    private func describe(_ info: MethodInfo, _ object: JSONValue, _ types: TypeDescriptions) throws {
        try Printing.out("\(Printing.bold(info.name))\n  \(info.summary)\n")
        try Printing.out("  \(info.description)\n")
        let caller = info.caller == .public ? "public" : "developer"
        try Printing.out("  Access level: \(caller). \(info.isReadOnly ? "Only reads the store." : "Can change the store.")\n")
        try list("Parameters", info.params, requirement: true)
        try list("Result", info.result, requirement: false)
        for name in types.named(in: [object["params"] ?? .null, object["result"] ?? .null]) { try types.describe(name) }
        let equivalents = object["x-equivalents"]?.object ?? [:]
        if !equivalents.isEmpty {
            let names = equivalents.members.map { "\($0.value.string ?? $0.value.text) (\($0.name))" }
            try Printing.out("\(Printing.bold("Names in other products"))\n  \(names.joined(separator: ", "))\n")
        }
        if !info.errors.isEmpty { try Printing.out("\(Printing.bold("Errors"))\n  \(info.errors.joined(separator: ", "))") }
    }

    private func list(_ title: String, _ fields: [FieldInfo], requirement: Bool) throws {
        guard !fields.isEmpty else { return }
        try Printing.out(Printing.bold(title))
        for field in fields {
            var notes = [field.type]
            if requirement { notes.append(field.isRequired ? "required" : field.defaultValue.map { "default \($0)" } ?? "optional") }
            try Printing.out("  \(Printing.cyan(field.name))  \(Printing.dim(notes.joined(separator: ", ")))")
            if !field.description.isEmpty { try Printing.out("      \(field.description)") }
        }
        try Printing.out("")
    }
}
