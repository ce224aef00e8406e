import Contract
import Storage

/// The pools that a document declares.
struct PoolsOfDocument {
    /// The ID of each declared pool, in the order of the document, or `nil` if the pool cannot be identified.
    let ids: [String?]
    private let declarations: [PoolDeclaration]

    /// A pool is identified by its ID, or by its name if at most one pool in the store has this name.
    ///
    /// - Parameter newIds: The IDs for new pools.
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

    /// Returns whether the document declares the pool.
    func contains(_ id: String) -> Bool { ids.contains(id) }

    /// Returns the ID of the only pool with this name. Pools in the document take precedence over those in the store.
    ///
    /// - Returns: `nil` if no pool or several pools have this name.
    func id(named name: String, in tx: Transaction) throws -> String? {
        let places = declarations.indices.filter { declarations[$0].name == name }
        if !places.isEmpty { return places.count == 1 ? ids[places[0]] : nil }
        let named = try tx.poolIds(named: name)
        return named.count == 1 ? named[0] : nil
    }
}

extension Transaction {
    /// Returns the IDs of pools with this name, at most two.
    fileprivate func poolIds(named name: String) throws -> [String] {
        try query("SELECT id FROM pool WHERE name = $1 ORDER BY id LIMIT 2", name) { $0.string(0) }
    }
}
