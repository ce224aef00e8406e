import Platform

/// The signatures that were found valid last. A client presents the same token with many calls, and the verification of its signature takes
/// longer than the rest of most calls.
///
/// An entry is a digest of the key, the message and the signature, so another message, signature or key is verified. Only the signature is
/// remembered as valid: whether the key is still trusted, and whether the token has expired or was revoked, is checked by every call.
public final class ValidSignatures: Sendable {
    /// The SHA-256 digest of a key, an algorithm, the digest of a message, and a signature. It reveals no part of a token.
    typealias Name = SIMD4<UInt64>

    /// Sets of entries with a lock each.
    private let parts: [UnfairLock<[Name]>]
    private static let partCount = 16
    private static let setsInPart = 64
    /// The number of entries in a set. The entry that was used last is the first one.
    private static let ways = 4

    /// The maximum number of entries, with 32 bytes each.
    static let capacity = partCount * setsInPart * ways

    public init() { parts = (0..<Self.partCount).map { _ in UnfairLock([]) } }

    func contains(_ name: Name) -> Bool {
        withSet(of: name) { entries, first in
            guard !entries.isEmpty, let found = (first..<first + Self.ways).first(where: { entries[$0] == name }) else { return false }
            Self.put(name, at: first, replacing: found, in: &entries)
            return true
        }
    }

    func insert(_ name: Name) {
        withSet(of: name) { entries, first in
            // The memory is used from the first valid signature on.
            if entries.isEmpty { entries = [Name](repeating: .zero, count: Self.setsInPart * Self.ways) }
            Self.put(name, at: first, replacing: first + Self.ways - 1, in: &entries)
        }
    }

    /// Makes `name` the first entry of a set. The entries before `last` move by one place, and the one at `last` leaves.
    private static func put(_ name: Name, at first: Int, replacing last: Int, in entries: inout [Name]) {
        for place in (first + 1..<last + 1).reversed() { entries[place] = entries[place - 1] }
        entries[first] = name
    }

    private func withSet<R>(of name: Name, _ body: (inout [Name], _ first: Int) -> R) -> R {
        let first = Int(truncatingIfNeeded: name[1] % UInt64(Self.setsInPart)) * Self.ways
        return parts[Int(truncatingIfNeeded: name[0] % UInt64(Self.partCount))].withLock { body(&$0, first) }
    }
}
