/// Generates the methods, types, errors and options of the Go client. A Go package is a single directory, so generated files are next to
/// the other files and have names that begin with `generated_`.
struct GoEmitter: Emitter {
    static let folder = ""
    static let home = "clients/go"

    func files(for contract: Contract) -> [GeneratedFile] {
        let declarations = GoDeclarations(contract: contract)
        let types = GoTypes(contract: contract, package: .client, declarations: declarations)
        let testing = GoTypes(contract: contract, package: .testing, declarations: declarations)
        return [
            GoRecords(types: types).file(declarations.client), GoRecords(types: testing).file(declarations.testingTypes),
            GoErrors(types: types).file, table(contract), GoOptions(contract: contract).file,
        ]
            + contract.namespaces.map { name, methods in
                let isTesting = methods.allSatisfy(\.isTesting)
                return GoNamespace(types: isTesting ? testing : types, name: name, methods: methods).file
            }
    }

    /// Returns the file with the namespaces, as members of a client, and the names of all methods.
    private func table(_ contract: Contract) -> GeneratedFile {
        let production = contract.namespaces.filter { !$0.methods.allSatisfy(\.isTesting) }
        var source = GoSource(from: "methods", package: .client)
        source.line()
        source.doc("ContractVersion is the version of the contract that this client was generated from.")
        source.line("const ContractVersion = \(GoNames.literal(contract.version))")
        source.line()
        source.doc("Namespaces has the methods of a client.")
        source.fields(
            "Namespaces",
            production.map {
                ("\(GoNames.exported($0.name)) has the methods \($0.name).*.", "\(GoNames.exported($0.name)) \(GoNamespace.type($0.name))")
            })
        source.line()
        source.block("func (n *Namespaces) bind(client *Client)") { source in
            for (name, _) in production { source.line("n.\(GoNames.exported(name)) = \(GoNamespace.type(name)){client}") }
        }
        source.line()
        source.doc("methodNames are the methods of the contract, testing methods included.")
        source.line("const methodNames = `")
        source.words(contract.methods.map(\.name))
        source.line("`")
        return source.file("contract")
    }
}

/// Generates the options of a client: those of `mintmark serve`, and those of the client itself.
struct GoOptions {
    let contract: Contract

    private static let own: [(doc: String, text: String)] = [
        ("The path or name of the program. Defaults to MINTMARK_BINARY, then to mintmark on the PATH.", "Binary string"),
        ("The time limit of calls whose context and options have none. Defaults to none.", "Timeout time.Duration"),
        ("Whether a call starts a new process after one has ended. Defaults to true unless the store is in memory.", "Restart *bool"),
        ("Called with each notification, one after another. It can make calls.", "OnNotification func(Notification)"),
        ("The functions that answer hooks.", "Hooks HookFunctions"),
        ("The destination of the log of the process. Defaults to os.Stderr; io.Discard discards it.", "Stderr io.Writer"),
        ("Further arguments of mintmark serve.", "Arguments []string"),
        ("Further environment variables, NAME=VALUE.", "Environment []string"),
    ]

    var file: GeneratedFile {
        var source = GoSource(from: "options.json", package: .client, imports: ["io", "strconv", "time"])
        source.line()
        source.doc("Options are the data and the process of a client. Exactly one of Store and App must be set.")
        source.fields("Options", contract.options.map { ($0.description, "\(GoNames.exported($0.name)) \(type($0.kind))") } + Self.own)
        source.line()
        source.doc("flags are the options of mintmark serve as arguments. A value can begin with \"-\".")
        source.block("func (o *Options) flags() []string") { source in
            source.line("var all []string")
            for option in contract.options { add(option, &source) }
            source.line("return all")
        }
        return source.file("options")
    }

    private func type(_ kind: ServeOption.Kind) -> String {
        switch kind {
        case .string, .path: "string"
        case .integer: "int"
        case .boolean: "bool"
        case .time: "time.Time"
        }
    }

    private func add(_ option: ServeOption, _ source: inout GoSource) {
        let field = "o.\(GoNames.exported(option.name))"
        let flag = GoNames.literal(option.flag + (option.kind == .boolean ? "" : "="))
        let (condition, argument) =
            switch option.kind {
            case .string: ("\(field) != \"\"", "\(flag)+" + (option.name == "store" ? "o.store()" : field))
            case .path: ("\(field) != \"\"", "\(flag)+absolute(\(field))")
            case .integer: ("\(field) != 0", "\(flag)+strconv.Itoa(\(field))")
            case .boolean: (field, flag)
            case .time: ("!\(field).IsZero()", "\(flag)+strconv.FormatInt(\(field).Unix(), 10)")
            }
        source.block("if \(condition)") { $0.line("all = append(all, \(argument))") }
    }
}
