import Contract
import Storage

/// Which pools a document is about.
struct PoolsOfDocument {
    /// The id of each declared pool, in the document's order; nil for one that cannot be told from another.
    let ids: [String?]
    private let declarations: [PoolDeclaration]

    /// A pool is known by its id, or by its name if the store has no two of that name.
    ///
    /// - Parameter newIds: for those that are not there.
    init(_ declarations: [PoolDeclaration], _ newIds: [String], in tx: Transaction, _ problems: inout ApplyProblems) throws {
        self.declarations = declarations
        var counts: [String: Int] = [:]
        for declaration in declarations { counts[declaration.name, default: 0] += 1 }
        var seen: Set<String> = []
        var ids: [String?] = []
        for (place, declaration) in declarations.enumerated() {
            let pointer = "/pools/\(place)"
            var id: String? = declaration.poolId
            if id == nil {
                let named = try tx.poolIds(named: declaration.name)
                if counts[declaration.name] != 1 {
                    problems.add(
                        pointer + "/name", rule: "duplicate",
                        "Several pools in the document have the name \(declaration.name). Set poolId for each of them.")
                } else if named.count > 1 {
                    problems.add(
                        pointer + "/name", rule: "ambiguousName",
                        "Several pools have the name \(declaration.name). Set poolId to select one.")
                } else {
                    id = named.first ?? newIds[place]
                }
            }
            if let known = id, !seen.insert(known).inserted {
                problems.add(
                    pointer + (declaration.poolId == nil ? "/name" : "/poolId"), rule: "duplicate",
                    "Pool \(known) occurs twice in the document.")
                id = nil
            }
            ids.append(id)
        }
        self.ids = ids
    }

    /// Whether the document declares the pool.
    func contains(_ id: String) -> Bool { ids.contains(id) }

    /// The id of the one pool with this name: of the document's if it has any, else of the store's.
    ///
    /// - Returns: nil if there is none, or several.
    func id(named name: String, in tx: Transaction) throws -> String? {
        let places = declarations.indices.filter { declarations[$0].name == name }
        if !places.isEmpty { return places.count == 1 ? ids[places[0]] : nil }
        let named = try tx.poolIds(named: name)
        return named.count == 1 ? named[0] : nil
    }
}

extension Transaction {
    /// The ids of pools with this name, two at most.
    fileprivate func poolIds(named name: String) throws -> [String] {
        try query("SELECT id FROM pool WHERE name = $1 ORDER BY id LIMIT 2", name) { $0.string(0) }
    }
}
