import Storage
import Platform

/// A cache of store contents that are valid for one store epoch: pools, roles, keys and revocations.
///
/// A writer of any of these advances the epoch in the same transaction, so that every process sees the change with its next read.
package final class EpochCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Contents: Sendable {
        var epoch: Int64 = -1
        var values: [Key: Value] = [:]
    }

    private let contents = UnfairLock(Contents())
    private let limit: Int

    /// - Parameter limit: The number of values above which the cache is cleared.
    package init(limit: Int = 10_000) { self.limit = limit }

    /// Returns the value for `key`, loaded if it is not cached for this epoch. A missing value is not cached.
    package func value(for key: Key, in tx: Transaction, load: () throws -> Value?) throws -> Value? {
        let epoch = try tx.epoch
        if let known = contents.withLock({ $0.epoch == epoch ? $0.values[key] : nil }) { return known }
        guard let loaded = try load() else { return nil }
        contents.withLock {
            if epoch > $0.epoch || $0.values.count >= limit { $0 = Contents(epoch: max(epoch, $0.epoch)) }
            if $0.epoch == epoch { $0.values[key] = loaded }
        }
        return loaded
    }
}
