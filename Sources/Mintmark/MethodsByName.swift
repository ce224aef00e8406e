import JSONRPC
import Platform

/// Finds methods by name, byte for byte. Every request requires one lookup. A `Dictionary` of strings is slower because its hash function
/// resists keys chosen by an attacker; here all keys are fixed.
struct MethodsByName: Sendable {
    private struct Entry: Sendable {
        let hash: UInt64
        let method: Method
    }

    /// An open-addressing table: each entry is at the index of its hash or after it, before the next free index.
    private let places: [Entry?]

    /// - Parameter methods: The methods, with unique names.
    init(_ methods: [Method]) {
        var size = 16
        while size < methods.count * 4 { size *= 2 }
        var places = [Entry?](repeating: nil, count: size)
        for method in methods {
            let hash = Self.hash(method.name)
            var place = Int(truncatingIfNeeded: hash) & (size - 1)
            while places[place] != nil { place = (place + 1) & (size - 1) }
            places[place] = Entry(hash: hash, method: method)
        }
        self.places = places
    }

    func method(named name: String) -> Method? {
        let hash = Self.hash(name)
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while let entry = places[place] {
            if entry.hash == hash, entry.method.name.hasBytes(of: name) { return entry.method }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Returns the FNV-1a hash, with the upper half folded into the lower half.
    private static func hash(_ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash ^ hash >> 32
    }
}
