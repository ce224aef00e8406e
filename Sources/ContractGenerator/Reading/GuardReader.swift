import JSON

/// Reads `guards` and `guardCases` of a method.
struct GuardReader {
    let schemas: SchemaReader
    let problems: Problems

    func read(_ value: JSONValue, at place: String) -> DoorGuards? {
        guard let guards = value["guards"] else {
            if value["guardCases"] != nil { problems.add(place, "has guardCases, so it needs guards") }
            return nil
        }
        let outcomes = self.outcomes(guards, at: place + "/guards")
        for missing in Guard.allCases where outcomes[missing] == nil {
            problems.add(
                place + "/guards", "needs \(missing.rawValue): an error, a state, or the reason for which it passes or never occurs")
        }
        let cases = (value["guardCases"]?.object?.members ?? []).map { (name, value) in
            (name: name, outcomes: self.outcomes(value, at: "\(place)/guardCases/\(name)"))
        }
        return DoorGuards(outcomes: outcomes, cases: cases)
    }

    private func outcomes(_ value: JSONValue, at place: String) -> [Guard: GuardOutcome] {
        schemas.refuseUnknown(value, besides: Set(Guard.allCases.map(\.rawValue)), at: place)
        var outcomes: [Guard: GuardOutcome] = [:]
        for each in Guard.allCases {
            guard let value = value[each.rawValue] else { continue }
            outcomes[each] = outcome(value, at: "\(place)/\(each.rawValue)")
        }
        return outcomes
    }

    private func outcome(_ value: JSONValue, at place: String) -> GuardOutcome? {
        if let name = value.string { return .refuses(name) }
        schemas.refuseUnknown(value, besides: ["passes", "strict", "never"], at: place)
        if let reason = value["never"]?.string, value["passes"] == nil, value["strict"] == nil { return .never(reason: reason) }
        if let reason = value["passes"]?.string, value["never"] == nil { return .passes(reason: reason, strict: value["strict"]?.string) }
        problems.add(place, "needs the name of an error or state, or {\"passes\": reason}, or {\"never\": reason}")
        return nil
    }
}
