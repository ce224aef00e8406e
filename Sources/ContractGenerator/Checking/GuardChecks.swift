/// Checks that every door declares its guards, and that a door can do what it declares.
struct GuardChecks {
    let contract: Contract
    let problems: Problems

    /// The types that open an account, or continue to one that does.
    private static let keys: Set<String> = ["Jwt", "RefreshToken", "SessionToken", "Credentials", "ContinuationToken"]

    func run() {
        for method in contract.methods { check(method) }
    }

    private func check(_ method: Method) {
        let place = "methods/\(method.name).json"
        let returnsKeys = !method.isTesting && !Self.keys.isDisjoint(with: types(of: method.result))
        guard let guards = method.guards else {
            if returnsKeys || method.changesCredentials {
                problems.add(place, "returns tokens or changes how users sign in, so it needs guards")
            }
            return
        }
        if !returnsKeys, !method.changesCredentials {
            problems.add(place, "neither returns tokens nor has changesCredentials, so it must not have guards")
        }
        let possible = Set(method.errors).union(states(of: method.result))
        let all = Array(guards.outcomes.values) + guards.cases.flatMap { $0.outcomes.values }
        for name in all.flatMap(names) where !possible.contains(name) {
            problems.add(place + "/guards", "\(name) is neither one of its errors nor a state of its result")
        }
    }

    private func names(of outcome: GuardOutcome) -> [String] {
        switch outcome {
        case .refuses(let name): [name]
        case .passes(_, let strict): strict.map { [$0] } ?? []
        case .never: []
        }
    }

    private func types(of result: Type) -> Set<String> {
        var reached: Set<String> = []
        func visit(_ type: Type) {
            switch type.shape {
            case .reference(let name):
                if reached.insert(name).inserted { contract.type(name).map { visit($0.type) } }
            case .array(let element, _, _): visit(element)
            case .map(_, let values, _): visit(values)
            case .object(let object): object.properties.forEach { visit($0.type) }
            case .boolean, .integer, .string, .enumeration, .anyObject: break
            }
        }
        visit(result)
        return reached
    }

    /// Returns the states of a result that is a union.
    private func states(of result: Type) -> [String] {
        guard case .object(let object) = contract.resolve(result).shape, let union = object.union else { return [] }
        return union.variants.map(\.value)
    }
}
