import Foundation

/// Generates all files from `schemas/`.
enum Generator {
    /// All emitters. A client for another language adds one entry here.
    static var emitters: [any Emitter] {
        [
            SwiftEmitter(), WireTextsEmitter(), OpenRPCFile(), ExamplesFile(), NodeEmitter(), PythonEmitter(), GoEmitter(), RubyEmitter(),
            RubySignatures(), JavaEmitter(), SwiftClientEmitter(), SwiftDriverEmitter(), ShellEmitter(), DocumentationEmitter(),
            ConsoleFilesEmitter(), AssuranceEmitter(), GuardsGuide(),
        ]
    }

    /// - Parameter root: The root of the repository.
    /// - Throws: `ContractProblems` with all errors in the schemas.
    static func output(root: URL) throws -> Output {
        let contract = try ContractReader(folder: root.appending(path: "schemas")).read()
        return Output(
            root: root, files: emitters.flatMap { $0.files(for: contract) },
            folders: emitters.map { type(of: $0).folder }.filter { !$0.isEmpty })
    }
}
