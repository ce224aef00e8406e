import JSON

/// Generates `schemas/examples.json`: the fixtures and all examples, for test runners in any language.
struct ExamplesFile: Emitter {
    static let folder = ""

    func files(for contract: Contract) -> [GeneratedFile] {
        var fixtures = JSONObject()
        for fixture in Fixtures.all {
            fixtures[fixture.name] = [
                "given": .array(fixture.given.map { .string($0) }),
                "steps": .array(fixture.steps.map { ["method": .string($0.method), "params": $0.params, "result": $0.result] }),
            ]
        }
        let examples = contract.methods.flatMap { method in method.examples.filter { !$0.needsElsewhere }.map { example($0, of: method) } }
        return [
            GeneratedFile(
                path: "schemas/examples.json", text: PrettyJSON.text(["fixtures": .object(fixtures), "examples": .array(examples)]))
        ]
    }

    private func example(_ example: Example, of method: Method) -> JSONValue {
        var object: JSONObject = [
            "method": .string(method.name), "name": .string(example.name), "testing": .bool(method.isTesting),
            "given": .array(example.given.map { .string($0) }), "params": example.params,
        ]
        switch example.outcome {
        case .result(let result): object["result"] = result
        case .error(let type): object["error"] = .string(type)
        }
        return .object(object)
    }
}
