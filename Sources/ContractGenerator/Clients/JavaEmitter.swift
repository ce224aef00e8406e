/// Generates the packages of the Java client that follow from the contract: methods, parameters, results and errors.
struct JavaEmitter: Emitter {
    static let folder = "clients/java/src/generated/java"

    func files(for contract: Contract) -> [GeneratedFile] {
        let records = JavaRecords(contract: contract)
        let methods = contract.methods.flatMap { [records.params(of: $0), records.result(of: $0)] }
        let tables = [
            namespaces(contract), table(contract), JavaShapes(records: records).file, JavaOptions(options: contract.options).file,
            JavaPackage.file,
        ]
        return contract.types.compactMap(records.file) + methods.compactMap { $0 } + JavaErrors(records: records).files + tables
            + contract.namespaces.map { JavaNamespace(types: records.types, name: $0.name, methods: $0.methods).file }
    }

    private func namespaces(_ contract: Contract) -> GeneratedFile {
        var source = JavaSource(from: "methods")
        source.doc("All methods by namespace, except those of testing stores.")
        source.block("public abstract class Methods") { source in
            source.line("private final Caller caller;")
            source.line()
            source.doc("Creates the methods.", tags: ["@param caller performs the calls"])
            source.line("protected Methods(Caller caller) { this.caller = caller; }")
            for (name, methods) in contract.namespaces where !methods.allSatisfy(\.isTesting) {
                let type = JavaNamespace.type(name)
                source.line()
                source.doc("{@return the methods <code>\(name).*</code>}")
                source.line("public \(type) \(JavaNames.member(name))() { return new \(type)(caller); }")
            }
        }
        return source.file("Methods")
    }

    private func table(_ contract: Contract) -> GeneratedFile {
        var source = JavaSource(from: "methods")
        source.doc("The contract from which this client was generated.")
        source.block("public final class Contract") { source in
            source.doc("The version of the contract.")
            source.line("public static final String VERSION = \(JavaNames.literal(contract.version));")
            source.line()
            let lists = [
                ("METHODS", "The methods of every process.", contract.methods.filter { !$0.isTesting }),
                ("TESTING_METHODS", "The additional methods of processes with a testing store.", contract.methods.filter(\.isTesting)),
            ]
            for (name, about, methods) in lists {
                source.doc(about)
                source.list("public static final Set<String> \(name) = Set.of", methods.map { JavaNames.literal($0.name) }, ");")
                source.line()
            }
            source.line("private Contract() {}")
        }
        return source.file("Contract")
    }
}
