/// Writes what the Go client knows about methods, types and errors. A package of Go is one folder, so these files stand beside those that people
/// write.
struct GoEmitter: Emitter {
    static let folder = ""
    static let home = "clients/go"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = GoTypes(contract: contract)
        return [GoRecords(types: types).file, GoErrors(types: types).file, table(contract)]
            + contract.namespaces.map { GoNamespace(types: types, name: $0.name, methods: $0.methods).file }
    }

    /// The namespaces as members of a client, and the names of all methods.
    private func table(_ contract: Contract) -> GeneratedFile {
        var source = GoSource(from: "methods")
        source.line()
        source.doc("ContractVersion is the version of the contract that this client was made from.")
        source.line("const ContractVersion = \(GoNames.literal(contract.version))")
        source.line()
        source.doc("Namespaces are the methods of a client.")
        source.fields(
            "Namespaces",
            contract.namespaces.map {
                ("\(GoNames.exported($0.name)) has the methods \($0.name).*.", "\(GoNames.exported($0.name)) \(GoNamespace.type($0.name))")
            })
        source.line()
        source.block("func (n *Namespaces) bind(client *Client)") { source in
            for (name, _) in contract.namespaces { source.line("n.\(GoNames.exported(name)) = \(GoNamespace.type(name)){client}") }
        }
        source.line()
        source.doc("knownMethod says whether this client has a method, and whether it is for testing processes only.")
        source.block("func knownMethod(name string) (known, testing bool)") { source in
            source.line("switch name {")
            for method in contract.methods {
                source.line("case \(GoNames.literal(method.name)):")
                source.line("\treturn true, \(method.isTesting)")
            }
            source.line("}")
            source.line("return false, false")
        }
        return source.file("contract")
    }
}
