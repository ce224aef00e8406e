import Platform
import Storage

/// A cache of store contents that are valid for one store epoch: pools, roles, keys and revocations.
///
/// A writer of any of these advances the epoch in the same transaction, so that every process sees the change with its next read.
package final class EpochCache<Value: Sendable>: Sendable {
    @usableFromInline
    package let table: EpochTable

    /// - Parameter limit: The number of values above which the cache is cleared.
    package init(limit: Int = 10_000) { table = EpochTable(limit: limit) }

    /// Returns the value for `key`, loaded if it is not cached for this epoch. A missing value is not cached.
    @inlinable
    package func value(for key: String, in tx: Transaction, load: () throws -> Value?) throws -> Value? {
        let epoch = try tx.epoch
        if let known = table.object(for: key, epoch: epoch) { return unsafeDowncast(known, to: Held.self).value }
        guard let loaded = try load() else { return nil }
        table.keep(Held(loaded), for: key, epoch: epoch)
        return loaded
    }

    /// Returns the only value of a cache without keys.
    @inlinable
    package func value(in tx: Transaction, load: () throws -> Value?) throws -> Value? { try value(for: "", in: tx, load: load) }

    @usableFromInline
    package final class Held: Sendable {
        @usableFromInline
        package let value: Value

        @inlinable
        package init(_ value: Value) { self.value = value }
    }
}

/// The objects of one epoch. Not generic: the code of a dictionary exists once for all caches, specialized for its types, and the start of
/// the program does not search the conformances of each type of key.
@usableFromInline
package final class EpochTable: Sendable {
    private struct Contents: Sendable {
        var epoch: Int64 = -1
        var objects: [String: any AnyObject & Sendable] = [:]
    }

    private let contents = UnfairLock(Contents())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    @usableFromInline
    package func object(for key: String, epoch: Int64) -> (any AnyObject & Sendable)? {
        contents.withLock { $0.epoch == epoch ? $0.objects[key] : nil }
    }

    /// Keeps the object unless the table already contains a later epoch.
    @usableFromInline
    package func keep(_ object: any AnyObject & Sendable, for key: String, epoch: Int64) {
        contents.withLock {
            if epoch > $0.epoch || $0.objects.count >= limit { $0 = Contents(epoch: max(epoch, $0.epoch)) }
            if $0.epoch == epoch { $0.objects[key] = object }
        }
    }
}
