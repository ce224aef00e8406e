import Contract
import ServiceContext
import Storage

extension StoreService {
    /// Returns the size and the number of rows of the store.
    public func stats(_ request: StoreStats.Params, _ call: any CallContext) throws -> StoreStats.Result {
        let facts = try context.database.facts()
        let (rows, epoch, fingerprint, swept) = try context.database.read { tx in
            (try tx.rowCounts(), try tx.epoch, try tx.masterFingerprint(), try tx.storeFact("swept.at"))
        }
        return StoreStats.Result(
            storeKind: .init(rawValue: facts.kind.rawValue) ?? .sqlite, location: facts.path, schemaVersion: Int64(facts.schemaVersion),
            epoch: epoch, bytes: facts.bytes, freeBytes: facts.freeBytes, logBytes: facts.logBytes,
            rows: Members(rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }), commits: facts.commits, writes: facts.writes,
            masterFingerprint: fingerprint ?? "", sweptAt: swept.flatMap { Int64($0) })
    }
}
