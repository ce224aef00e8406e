/// Checks `columns`: a method with one list in its result names members of its entries.
struct ColumnChecks {
    let contract: Contract
    let problems: Problems

    func run() { contract.methods.forEach(check) }

    private func check(_ method: Method) {
        let place = "methods/\(method.name).json"
        let members = members(of: method)
        if method.columns.isEmpty {
            if members != nil { problems.add(place, "has a list of objects as its result, so it needs columns for tables") }
            return
        }
        guard let members else { return problems.add(place, "has no list of objects as its only member, so it must not have columns") }
        for name in method.columns where !members.contains(name) {
            problems.add(place, "columns must name members of the entries, not \(name)")
        }
        if Set(method.columns).count < method.columns.count { problems.add(place, "names a column twice") }
        if method.columns.count > 8 { problems.add(place, "names more than 8 columns") }
    }

    /// Returns the members of the entries, if the list and the cursor are the only members of the result and the entries are objects.
    private func members(of method: Method) -> [String]? {
        guard case .object(let result) = contract.resolve(method.result).shape else { return nil }
        let lists = result.properties.filter { $0.name != "nextCursor" }
        guard lists.count == 1, case .array(let element, _, _) = contract.resolve(lists[0].type).shape,
            case .object(let entry) = contract.resolve(element).shape
        else { return nil }
        return entry.properties.map(\.name)
    }
}
