/// Generates the package `mintmark.contract`: the methods, types and errors of the Java client.
struct JavaEmitter: Emitter {
    static let folder = "clients/java/src/main/java/mintmark/contract"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = JavaTypes(contract: contract)
        return [shared(types), JavaErrors(types: types).file, methods(contract), table(contract)]
            + contract.namespaces.map { JavaNamespace(types: types, name: $0.name, methods: $0.methods).file }
    }

    private func shared(_ types: JavaTypes) -> GeneratedFile {
        var source = JavaSource(
            from: "types",
            imports: [
                "java.time.Instant", "java.util.List", "java.util.Map", "mintmark.json.JsonRecord", "mintmark.json.JsonText",
                "mintmark.json.Members", "mintmark.json.Read", "mintmark.json.Records", "mintmark.json.Sink",
            ])
        source.doc("The types that several methods take or answer.")
        source.block("public final class Types") { source in
            source.block("private Types()") { _ in }
            for type in types.contract.types {
                JavaRecords(types: types).write(
                    type.type, SwiftNames.type(type.name), within: ["Types"], about: "", isMade: false, &source)
            }
        }
        return source.file("Types")
    }

    private func methods(_ contract: Contract) -> GeneratedFile {
        var source = JavaSource(from: "methods", imports: ["mintmark.Caller"])
        source.doc("All methods, by their namespaces.")
        source.block("public abstract class Methods") { source in
            source.line("private final Caller caller;")
            source.line()
            source.doc("Methods that somebody calls.", tags: ["@param caller who carries calls out"])
            source.block("protected Methods(Caller caller)") { $0.line("this.caller = caller;") }
            for (name, _) in contract.namespaces {
                source.line()
                source.doc("The methods \(name).*.", tags: ["@return the methods"])
                source.block("public \(JavaNamespace.type(name)) \(JavaNames.member(name))()") {
                    $0.line("return new \(JavaNamespace.type(name))(caller);")
                }
            }
        }
        return source.file("Methods")
    }

    private func table(_ contract: Contract) -> GeneratedFile {
        var source = JavaSource(from: "methods", imports: ["java.util.Set"])
        source.doc("The contract that this client was made from.")
        source.block("public final class Contract") { source in
            source.doc("Its version.")
            source.line("public static final String VERSION = \(JavaNames.literal(contract.version));")
            source.line()
            let lists = [
                ("METHODS", "The methods that every process offers.", contract.methods.filter { !$0.isTesting }),
                ("TESTING_METHODS", "The methods that testing processes offer beside them.", contract.methods.filter(\.isTesting)),
            ]
            for (name, about, methods) in lists {
                source.doc(about)
                source.list("public static final Set<String> \(name) = Set.of", methods.map { JavaNames.literal($0.name) }, ");")
                source.line()
            }
            source.block("private Contract()") { _ in }
        }
        return source.file("Contract")
    }
}
