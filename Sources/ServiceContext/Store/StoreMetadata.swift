import Contract
import Crypto
import Storage

/// The properties that a store keeps from its creation.
public enum StoreMetadata {
    /// Returns whether the store is a testing store. A new store becomes what `testing` requests; processes that start concurrently get the
    /// same result.
    public static func agree(on testing: Bool, in database: any Database, random: any RandomSource) throws -> Bool {
        if let known = try database.read({ try $0.storeFact("testing") }) { return known == "true" }
        let id = random.uuid()
        return try database.write { tx in
            try tx.lock(["testing"])
            if let known = try tx.storeFact("testing") { return known == "true" }
            try tx.setTestingMark(testing, id: id)
            return testing
        }
    }
}

extension StoreMetadata {
    /// The name of the fact that marks a store into which another store is being copied, or into which a copy was interrupted.
    package static let incompleteFact = "copy.incomplete"

    /// - Throws: `StoreCannotOpen` if a copy into the store was interrupted.
    package static func refuseIncomplete(_ database: any Database, at path: String) throws {
        guard try database.read({ try $0.storeFact(incompleteFact) }) != nil else { return }
        throw StoreCannotOpen(
            path: path, reason: "a copy into it is still running or was interrupted; if it was interrupted, run the same command again")
    }
}

extension Transaction {
    /// - Parameter id: The ID that distinguishes this store from its state before a reset.
    package func setTestingMark(_ testing: Bool, id: String) throws {
        try setStoreFact("testing", testing ? "true" : "false")
        try setStoreFact("id", id)
    }

    /// Waits for a sweep in progress, and blocks others until the end of this transaction. A sweep changes this row. Transactions that call
    /// this function do not wait for each other: hundreds of connections can begin their chains at the same time.
    func keepSweepsAway() throws { try keepUnchanged("SELECT value FROM store_fact WHERE name = 'swept.at' FOR SHARE") }

    package func storeFact(_ name: String) throws -> String? {
        try queryOne("SELECT value FROM store_fact WHERE name = $1", name) { $0.string(0) }
    }

    package func setStoreFact(_ name: String, _ value: String?) throws {
        guard let value else {
            try execute("DELETE FROM store_fact WHERE name = $1", name)
            return
        }
        try execute(
            "INSERT INTO store_fact (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
    }
}
