import Foundation
import JSON
import Testing

@testable import ContractGenerator

/// The generator: the schemas that it rejects, and the comparison of the committed files with the schemas.
@Suite struct GeneratorTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

    @Test("every generated file matches the schemas")
    func upToDate() throws {
        #expect(try Generator.output(root: Self.root).stale() == [])
    }

    @Test("schemas/openrpc.json is valid against the OpenRPC meta-schema")
    func openRPC() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.root.appending(path: "Tests/OpenRPC/validate.py").path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
    }

    static let flaws: [(file: String, from: String, to: String, problem: String)] = [
        ("types/Pool.json", "SigningAlgorithm.json", "Nothing.json", "$ref to Nothing"),
        ("types/PoolId.json", "\"minLength\"", "\"format\"", "the keyword format cannot be used here"),
        ("types/PoolId.json", "[0-9a-f-]+$", "(?=x)$", "the pattern has a lookahead, `(?=`, at character 8, which is not supported"),
        ("types/PoolId.json", "[0-9a-f-]+$", "[0-9a-f-]+", "a pattern must begin with ^ and end with $"),
        ("types/PoolId.json", "\"patternDescription\"", "\"default\"", "the pattern needs a patternDescription"),
        ("types/PoolId.json", "a region, a colon", "^[a-z]+$, a colon", "no regular expression"),
        ("types/PoolId.json", "\"pattern\"", "\"default\"", "patternDescription needs a pattern"),
        ("types/PoolId.json", "\"string\"", "\"number\"", "needs $ref or a type"),
        ("methods/pool.get.json", "[\"poolNotFound\"]", "[\"poolLost\"]", "the error poolLost is not in errors.json"),
        ("methods/pool.get.json", "{\"poolId\": \"$pool\"}", "{\"poolId\": \"?\"}", "must match"),
        ("methods/pool.get.json", "{\"poolId\": \"$pool\"}", "{\"poolID\": \"$pool\"}", "/poolID is not described"),
        ("methods/pool.get.json", "\"allowClassicFlow\": false", "\"allowClassicFlow\": 0", "must be true or false"),
        ("methods/pool.get.json", "$createdAt", "$birthday", "for $birthday no value is recorded"),
        ("methods/pool.get.json", "[\"pool\"]", "[\"pond\"]", "there is no fixture pond"),
        (
            "methods/pool.get.json", "\"additionalProperties\": false", "\"additionalProperties\": true",
            "params need additionalProperties: false"
        ),
        ("methods/pool.list.json", "\"default\": 60", "\"default\": 61", "the default of limit must be an integer in 1...60"),
        ("methods/pool.get.json", "\"pool.get\"", "\"pool.fetch\"", "its name must be pool.get"),
        ("methods/pool.get.json", "  \"cost\": \"quick\",\n", "", "methods/pool.get.json: needs a cost: quick, store, slow, network"),
        ("methods/pool.get.json", "  \"level\": \"read\",\n", "", "methods/pool.get.json: needs a level: read, write, destroy"),
        ("methods/pool.get.json", "\"read\"", "\"write\"", "exactly the methods that only read have read"),
        ("methods/pool.delete.json", "\"destroy\"", "\"write\"", "methods/pool.delete.json: needs the level destroy, because of its verb"),
        ("methods/account.get.json", "  \"secrets\": false,\n", "", "methods/account.get.json: has secret members, so it needs secrets"),
        (
            "methods/pool.get.json", "\"level\": \"read\"", "\"level\": \"read\", \"secrets\": true",
            "methods/pool.get.json: has no secret members, so it must not have secrets"
        ),
        (
            "methods/pool.get.json", "of an identity pool.\"", "of an identity pool\"",
            "methods/pool.get.json: the summary must be a sentence that ends with a period"
        ),
        (
            "methods/system.info.json", "{\"description\": \"Whether the store is a testing store.\", \"type\": \"boolean\"}",
            "{\"type\": \"boolean\"}", "result/testing: needs a description"
        ),
        ("methods/account.get.json", "\"account.graph\"", "\"account.grpah\"", "next must name other methods, not account.grpah"),
        ("methods/pool.get.json", "\"quick\"", "\"cheap\"", "needs a cost: quick, store, slow, network"),
        ("methods/account.create.json", "\"/password\"", "\"/pass\"", "there is no parameter /pass"),
        ("methods/account.create.json", "\"/password\"", "\"password\"", "the parameter password is no JSON pointer"),
        ("methods/account.create.json", "\"/password\"", "\"/password\", \"values\": [\"a\"]", "/password has no enum"),
        ("methods/account.create.json", "\"/password\", \"cost\": \"slow\"", "\"/password\"", "costCases: needs a cost"),
        ("methods/pool.create.json", "[\"RS256\", ", "[\"RS384\", ", "RS384 is not among the values of /signingAlgorithm"),
        ("methods/role.get.json", "exactlyOne", "one", "needs one of exactlyOne"),
        ("methods/role.get.json", "\"roleArn\"]", "\"arn\"]", "is no optional member"),
        (
            "types/SignUpStep.json", "\"propertyName\": \"state\"", "\"propertyName\": \"step\"",
            "oneOf/0: needs a description, and step as a"
        ),
        ("types/SignUpStep.json", "\"const\": \"passwordRequired\"", "\"const\": \"completed\"", "one variant for each of its values"),
        ("types/SignUpStep.json", "\"AccountId.json\"", "\"AccountId.json\", \"minLength\": 1", "the keyword minLength cannot be used"),
        (
            "types/EmailChangeStep.json", "{\"$ref\": \"ContinuationToken.json\"}", "{\"type\": \"integer\"}",
            "the variants have different types for continuationToken"
        ),
        ("methods/signUp.start.json", "\"sentTo\"", "\"accountId\"", "/accountId is not described"),
        ("errors.json", "\"code\": 2001", "\"code\": 2002", "the code 2002 belongs to poolNotFound and poolExists"),
        ("errors.json", "Pool {poolId} does not exist", "Pool {id} does not exist", "{id}, which is no required member"),
        (
            "errors.json", "Pool {poolId} does not exist", "Pool [{poolId}] does not exist",
            "a part in brackets needs one member of its data that is optional or a list"
        ),
        ("errors.json", "\"when\": \"The time in `exp`", "\"if\": \"The time in `exp`", "the keyword if cannot be used here"),
    ]

    @Test("a schema problem is reported with its location")
    func flaws() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "contract-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: Self.root.appending(path: "schemas"), to: folder)
        // Reading the schemas takes long: each time, as many files as possible have a flaw. One that hides others is reported first.
        var rest = Self.flaws
        while !rest.isEmpty {
            var round: [String: String] = [:]
            for flaw in rest where round[flaw.file] == nil {
                let url = folder.appending(path: flaw.file)
                let text = try String(contentsOf: url, encoding: .utf8)
                #expect(text.contains(flaw.from), "\(flaw.file)")
                try Data(text.replacing(flaw.from, with: flaw.to).utf8).write(to: url)
                round[flaw.file] = text
            }
            let error = try #require(throws: ContractProblems.self) { try ContractReader(folder: folder).read() }
            var files = Set(round.keys)
            let missed = rest.filter { flaw in
                guard files.remove(flaw.file) != nil else { return true }
                return !error.all.contains { $0.hasPrefix(flaw.file) && $0.contains(flaw.problem) }
            }
            try #require(missed.count < rest.count, "\(missed): \(error)")
            rest = missed
            for (file, text) in round { try Data(text.utf8).write(to: folder.appending(path: file)) }
        }
    }

    @Test("changed, missing and obsolete generated files are reported as stale")
    func stale() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "contract-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let output = Output(
            root: folder, files: [GeneratedFile(path: "made/a", text: "a"), GeneratedFile(path: "b", text: "b")], folders: ["made"])
        #expect(output.stale() == ["made/a", "b"])
        #expect(try output.write() == 2)
        #expect(output.stale() == [])
        try Data("x".utf8).write(to: folder.appending(path: "b"))
        try Data("y".utf8).write(to: folder.appending(path: "made/old"))
        #expect(output.stale() == ["b", "made/old"])
        #expect(try output.write() == 2)
        #expect(output.stale() == [])
    }
}
