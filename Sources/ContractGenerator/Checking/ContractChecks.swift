import JSON

/// Checks the consistency of the contract.
struct ContractChecks {
    let contract: Contract
    let problems: Problems

    func run() {
        references()
        guard problems.all.isEmpty else { return }
        names()
        errors()
        contract.methods.forEach(method)
        LevelChecks(contract: contract, problems: problems).run()
        ColumnChecks(contract: contract, problems: problems).run()
        GuardChecks(contract: contract, problems: problems).run()
        TextChecks(contract: contract, problems: problems).run()
        examples()
        fixtures()
    }

    // MARK: References and names

    private func references() {
        for type in contract.types { walk(type.type, at: "types/\(type.name).json") }
        for method in contract.methods {
            walk(Type(description: nil, isSecret: false, shape: .object(method.params)), at: "methods/\(method.name).json/params")
            walk(method.result, at: "methods/\(method.name).json/result")
            if let progress = method.progress { walk(progress, at: "methods/\(method.name).json/progress") }
        }
        for notification in contract.notifications { walk(notification.params, at: "notifications/\(notification.name)/params") }
        for error in contract.errors { error.data.forEach { walk($0.type, at: "errors.json/\(error.type)") } }
    }

    private func walk(_ type: Type, at place: String) {
        switch type.shape {
        case .reference(let name):
            if contract.type(name) == nil { problems.add(place, "$ref to \(name), of which there is no file in schemas/types") }
        case .array(let element, _, _): walk(element, at: place)
        case .map(let names, let values, _):
            names.map { walk($0, at: place) }
            walk(values, at: place)
        case .object(let object):
            object.properties.forEach { walk($0.type, at: "\(place)/\($0.name)") }
            if object.union != nil, !contract.types.contains(where: { "types/\($0.name).json" == place }) {
                problems.add(place, "has variants, and therefore must be a shared type of its own")
            }
        case .boolean, .integer, .string, .enumeration, .anyObject: break
        }
    }

    private func names() {
        let all =
            contract.types.flatMap { OpenRPCSchema.all(of: $0).map(\.name) } + contract.errors.map { SwiftNames.type($0.type) }
            + contract.methods.map { SwiftNames.type($0.name) }
            + contract.notifications.map { SwiftNames.type($0.name.replacing("/", with: ".")) }
        for (name, uses) in Dictionary(grouping: all, by: { $0 }) where uses.count > 1 {
            problems.add(name, "is the name of two things: of types, errors or methods")
        }
        for (name, uses) in Dictionary(grouping: contract.options.flatMap { [$0.name, $0.flag] }, by: { $0 }) where uses.count > 1 {
            problems.add("options.json", "has \(name) twice")
        }
        for (name, methods) in contract.namespaces where Set(methods.map(\.isTesting)).count > 1 {
            problems.add(name, "has testing methods and others; a namespace has one kind")
        }
    }

    // MARK: Errors

    private func errors() {
        for (code, entries) in Dictionary(grouping: contract.errors, by: \.code) where entries.count > 1 {
            problems.add("errors.json", "the code \(code) belongs to \(entries.map(\.type).joined(separator: " and "))")
        }
        for entry in contract.errors {
            for section in entry.messageSections {
                let names = section.parts.compactMap(\.placeholder)
                let optional = names.filter { name in entry.data.contains { $0.name == name && (!$0.isRequired || $0.type.isArray) } }
                if section.isOptional, Set(optional).count != 1 {
                    problems.add("errors.json/\(entry.type)", "a part in brackets needs one member of its data that is optional or a list")
                }
                for name in names where entry.data.first(where: { $0.name == name && ($0.isRequired || section.isOptional) }) == nil {
                    problems.add("errors.json/\(entry.type)", "its message has {\(name)}, which is no required member of its data")
                }
            }
        }
    }

    private func method(_ method: Method) {
        let place = "methods/\(method.name).json"
        for error in method.errors where contract.error(error) == nil { problems.add(place, "the error \(error) is not in errors.json") }
        var taken = ReachableTypes(contract: contract)
        taken.add(paramsOf: [method])
        for name in taken.names.sorted() {
            if case .object(let object)? = contract.type(name)?.type.shape, object.union != nil {
                problems.add(place, "\(name) has variants, which are for results only")
            }
        }
        if !method.params.isClosed { problems.add(place, "params need additionalProperties: false") }
        for each in method.costCases { check(each, of: method, at: "\(place)/costCases") }
        for property in method.params.properties {
            guard let value = property.defaultValue else { continue }
            for breach in InstanceValidator(contract: contract).breaches(value, property.type, at: property.name) {
                problems.add(place, "the default of \(breach)")
            }
        }
    }

    private func check(_ each: Method.CostCase, of method: Method, at place: String) {
        guard each.parameter.hasPrefix("/") else { return problems.add(place, "the parameter \(each.parameter) is no JSON pointer") }
        var type = Type(description: nil, isSecret: false, shape: .object(method.params))
        for step in each.steps {
            switch contract.resolve(type).shape {
            case .object(let object):
                guard let property = object.property(step) else { return problems.add(place, "there is no parameter \(each.parameter)") }
                type = property.type
            case .array(let element, _, _) where step == Method.CostCase.anyElement: type = element
            default: return problems.add(place, "there is no parameter \(each.parameter)")
            }
        }
        guard !each.values.isEmpty else { return }
        guard case .enumeration(let known) = contract.resolve(type).shape else {
            return problems.add(place, "\(each.parameter) has no enum, so the case cannot name values")
        }
        for value in each.values where !known.contains(value) {
            problems.add(place, "\(value) is not among the values of \(each.parameter)")
        }
    }

    // MARK: Examples

    private func examples() {
        for method in contract.methods {
            let place = "methods/\(method.name).json/examples"
            let answered = method.examples.filter { if case .result = $0.outcome { true } else { false } }
            if answered.isEmpty { problems.add(place, "has none with a result") }
            for example in method.examples { check(example, of: method, at: "\(place)/\(example.name)") }
        }
    }

    private func check(_ example: Example, of method: Method, at place: String) {
        for name in example.given where Fixtures.named(name) == nil { problems.add(place, "there is no fixture \(name)") }
        check(example.params, Type(description: nil, isSecret: false, shape: .object(method.params)), at: place + "/params")
        switch example.outcome {
        case .result(let result): check(result, method.result, at: place + "/result")
        case .error(let error): if !method.errors.contains(error) { problems.add(place, "\(error) is not among the errors of the method") }
        }
    }

    private func check(_ value: JSONValue, _ type: Type, at place: String) {
        for name in RecordedValues.names(in: value) where RecordedValues.all[name] == nil {
            problems.add(place, "for \(name) no value is recorded")
        }
        for breach in InstanceValidator(contract: contract).breaches(RecordedValues.fill(value), type, at: "") {
            problems.add(place, breach)
        }
    }

    private func fixtures() {
        for fixture in Fixtures.all {
            for name in fixture.given where Fixtures.named(name) == nil { problems.add(fixture.name, "there is no fixture \(name)") }
            for step in fixture.steps {
                guard let method = contract.methods.first(where: { $0.name == step.method }) else {
                    problems.add(fixture.name, "there is no method \(step.method)")
                    continue
                }
                check(step.params, Type(description: nil, isSecret: false, shape: .object(method.params)), at: "fixture \(fixture.name)")
            }
        }
    }
}
