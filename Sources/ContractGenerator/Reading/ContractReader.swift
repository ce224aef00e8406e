import Foundation
import JSON

/// Reads `schemas/` into a `Contract`.
struct ContractReader {
    /// The folder `schemas`.
    let folder: URL
    private let problems = Problems()
    private var schemas: SchemaReader { SchemaReader(problems: problems) }

    init(folder: URL) { self.folder = folder }

    /// - Throws: `ContractProblems` with all errors in the schemas.
    func read() throws -> Contract {
        let service = json("service.json")
        let methods = files(in: "methods").map { method(named: $0) }
        let contract = Contract(
            title: service["title"]?.string ?? "", version: service["version"]?.string ?? "",
            description: service["description"]?.string ?? "",
            types: files(in: "types").map { NamedType(name: $0, type: schemas.type(json("types/\($0).json"), at: "types/\($0).json")) },
            methods: methods,
            notifications: files(in: "notifications").map { notification(in: $0) },
            errors: (json("errors.json")["errors"]?.array ?? []).map(error),
            options: (json("options.json")["options"]?.array ?? []).compactMap(option),
            guides: guides(generating: [GuardsGuide.file: GuardsGuide.text(of: methods)]), requirements: requirements)
        ContractChecks(contract: contract, problems: problems).run()
        guard problems.all.isEmpty else { throw ContractProblems(all: problems.all) }
        return contract
    }

    private func files(in name: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)) ?? []
        return all.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }

    private var requirements: [AssuranceEntry] {
        let found = (json("assurance.json")["requirements"]?.array ?? []).map { AssuranceEntry($0) }
        for entry in found where entry.number.isEmpty || entry.title.isEmpty || !AssuranceEntry.statuses.contains(entry.status) {
            problems.add("assurance.json", "\(entry.number) needs a number, a title and a status of \(AssuranceEntry.statuses)")
        }
        for entry in found where entry.status == "pass" && entry.tests.isEmpty {
            problems.add("assurance.json", "\(entry.number) has the status pass and names no test")
        }
        if Set(found.map(\.number)).count < found.count { problems.add("assurance.json", "a number occurs twice") }
        return found
    }

    /// - Parameter generated: The texts of the guides that are generated, by file.
    private func guides(generating generated: [String: String]) -> [Guide] {
        let folder = folder.appending(path: "guides")
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".md") }
        return files.sorted().compactMap { file in
            let text = generated[file] ?? (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)) ?? ""
            guard text.hasPrefix("# "), let title = text.dropFirst(2).split(separator: "\n").first else {
                problems.add("guides/\(file)", "must begin with a heading of the first level")
                return nil
            }
            let name = String(file.dropLast(3))
            let page = name == AssuranceEmitter.guide ? AssuranceEmitter.page(text, requirements) : text
            return Guide(name: name, title: String(title), text: page)
        }
    }

    private func json(_ path: String) -> JSONValue {
        do {
            return try JSONValue(parsing: [UInt8](Data(contentsOf: folder.appending(path: path))))
        } catch {
            problems.add(path, "\(error)")
            return .null
        }
    }

    // MARK: Methods

    private func method(named name: String) -> Method {
        let place = "methods/\(name).json"
        let value = json(place)
        schemas.refuseUnknown(
            value,
            besides: [
                "name", "summary", "description", "caller", "readOnly", "testing", "level", "secrets", "use", "next", "cost", "costCases",
                "columns",
                "params", "result", "progress",
                "errors", "examples", "equivalents", "guards", "guardCases", "changesCredentials",
            ], at: place)
        if value["name"]?.string != name { problems.add(place, "its name must be \(name)") }
        guard let caller = value["caller"]?.string.flatMap(Method.Caller.init), let isReadOnly = value["readOnly"]?.bool else {
            problems.add(place, "needs caller, public or developer, and readOnly")
            return Method(
                name: name, summary: "", description: "", caller: .developer, isReadOnly: true, isTesting: false, level: .read,
                secrets: nil,
                use: "", next: [], cost: .quick, costCases: [],
                params: ObjectType(properties: [], isClosed: true, choices: []),
                result: Type(description: nil, isSecret: false, shape: .anyObject), progress: nil, errors: [], examples: [], equivalents: []
            )
        }
        return Method(
            name: name, summary: text("summary", of: value, at: place), description: text("description", of: value, at: place),
            caller: caller, isReadOnly: isReadOnly, isTesting: value["testing"]?.bool ?? false,
            level: level(of: value, at: place), secrets: value["secrets"]?.bool, use: value["use"]?.string ?? "",
            next: (value["next"]?.array ?? []).compactMap(\.string), cost: cost(of: value, at: place),
            costCases: costCases(of: value, at: place + "/costCases"),
            columns: (value["columns"]?.array ?? []).compactMap(\.string),
            params: schemas.objectType(value["params"] ?? .null, at: place + "/params"),
            result: schemas.type(value["result"] ?? .null, at: place + "/result"),
            progress: value["progress"].map { progress($0, at: place + "/progress") },
            errors: (value["errors"]?.array ?? []).compactMap(\.string),
            examples: (value["examples"]?.array ?? []).compactMap { example($0, at: place + "/examples") },
            changesCredentials: value["changesCredentials"]?.bool ?? false,
            guards: GuardReader(schemas: schemas, problems: problems).read(value, at: place),
            equivalents: equivalents(of: value))
    }

    private func level(of value: JSONValue, at place: String) -> Method.Level {
        if let level = value["level"]?.string.flatMap(Method.Level.init) { return level }
        problems.add(place, "needs a level: \(Method.Level.allCases.map(\.rawValue).joined(separator: ", "))")
        return .destroy
    }

    private func cost(of value: JSONValue, at place: String) -> Method.Cost {
        if let cost = value["cost"]?.string.flatMap(Method.Cost.init) { return cost }
        problems.add(place, "needs a cost: \(Method.Cost.allCases.map(\.rawValue).joined(separator: ", "))")
        return .quick
    }

    private func costCases(of value: JSONValue, at place: String) -> [Method.CostCase] {
        guard let cases = value["costCases"] else { return [] }
        guard let cases = cases.array else {
            problems.add(place, "needs a list of cases")
            return []
        }
        return cases.map { each in
            schemas.refuseUnknown(each, besides: ["parameter", "values", "cost"], at: place)
            return Method.CostCase(
                parameter: text("parameter", of: each, at: place), values: (each["values"]?.array ?? []).compactMap(\.string),
                cost: cost(of: each, at: place))
        }
    }

    private func progress(_ value: JSONValue, at place: String) -> Type {
        let type = schemas.type(value, at: place)
        if case .reference = type.shape {} else { problems.add(place, "it is a $ref to a type") }
        return type
    }

    private func example(_ value: JSONValue, at place: String) -> Example? {
        schemas.refuseUnknown(value, besides: ["name", "given", "params", "result", "error", "elsewhere"], at: place)
        let outcome: Example.Outcome
        switch (value["result"], value["error"]?.string) {
        case (let result?, nil): outcome = .result(result)
        case (nil, let error?): outcome = .error(error)
        default:
            problems.add(place, "an example has either a result or an error")
            return nil
        }
        return Example(
            name: text("name", of: value, at: place), given: (value["given"]?.array ?? []).compactMap(\.string),
            params: value["params"] ?? [:], outcome: outcome, needsElsewhere: value["elsewhere"]?.bool ?? false)
    }

    private func notification(in file: String) -> Notification {
        let place = "notifications/\(file).json"
        let value = json(place)
        schemas.refuseUnknown(value, besides: ["name", "summary", "description", "params", "equivalents"], at: place)
        let name = file.replacing(".", with: "/")
        if value["name"]?.string != name { problems.add(place, "its name must be \(name)") }
        let params = schemas.type(value["params"] ?? .null, at: place + "/params")
        if case .reference = params.shape {} else { problems.add(place, "its params are a $ref to a type") }
        return Notification(
            name: name, summary: text("summary", of: value, at: place), description: text("description", of: value, at: place),
            params: params, equivalents: equivalents(of: value))
    }

    // MARK: Options

    private func option(_ value: JSONValue) -> ServeOption? {
        let place = "options.json/\(value["name"]?.string ?? "?")"
        schemas.refuseUnknown(value, besides: ["name", "flag", "type", "values", "description"], at: place)
        guard let kind = value["type"]?.string.flatMap(ServeOption.Kind.init) else {
            problems.add(place, "needs a type: \(ServeOption.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
            return nil
        }
        if value["values"] != nil, kind != .string { problems.add(place, "only a string can have values") }
        return ServeOption(
            name: text("name", of: value, at: place), flag: text("flag", of: value, at: place), kind: kind,
            values: (value["values"]?.array ?? []).compactMap(\.string), description: text("description", of: value, at: place))
    }

    // MARK: Errors

    private func error(_ value: JSONValue) -> ErrorEntry {
        let type = value["type"]?.string ?? "?"
        let place = "errors.json/\(type)"
        schemas.refuseUnknown(
            value, besides: ["code", "type", "message", "when", "retryAfterSeconds", "storeError", "data", "equivalents"], at: place)
        guard let code = value["code"]?.int else {
            problems.add(place, "needs an integer code")
            return ErrorEntry(code: 0, type: type, message: "", when: "", retryAfterSeconds: nil, data: [], equivalents: [])
        }
        let retryAfterSeconds = value["retryAfterSeconds"]?.int
        var data = schemas.objectType(value["data"] ?? .null, at: place + "/data").properties
        if let retryAfterSeconds {
            data.append(
                Property(
                    name: "retryAfterSeconds", type: Type(description: nil, isSecret: false, shape: .integer(0...Int64.max)),
                    isRequired: true, defaultValue: .number(JSONNumber(retryAfterSeconds)), description: "When to try again."))
        }
        return ErrorEntry(
            code: code, type: type, message: text("message", of: value, at: place), when: text("when", of: value, at: place),
            retryAfterSeconds: retryAfterSeconds, isStoreError: value["storeError"]?.bool ?? false, data: data,
            equivalents: equivalents(of: value))
    }

    // MARK: Helpers

    private func text(_ name: String, of value: JSONValue, at place: String) -> String {
        if let text = value[name]?.string, !text.isEmpty { return text }
        problems.add(place, "needs \(name)")
        return ""
    }

    private func equivalents(of value: JSONValue) -> [(vendor: String, name: String)] {
        (value["equivalents"]?.object?.members ?? []).map { ($0.name, $0.value.string ?? "") }
    }
}
