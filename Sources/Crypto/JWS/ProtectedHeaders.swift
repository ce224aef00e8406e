import JSON
import Platform
import Synchronization

/// The encoded protected headers a key has signed under, so that each is written once.
final class ProtectedHeaders: Sendable {
    private struct Entry {
        let type: String
        let keyID: String
        let encoded: [UInt8]
    }

    private static let limit = 16
    private let entries = Mutex<[Entry]>([])

    /// The base64url text of `{"alg":…,"kid":…,"typ":…}`, followed by the dot before the payload.
    func encoded(algorithm: SigningAlgorithm, keyID: String, type: String) -> [UInt8] {
        entries.withLock { entries in
            if let known = entries.first(where: { $0.type == type && $0.keyID == keyID }) { return known.encoded }
            let encoded = Self.encode(algorithm, keyID, type)
            if entries.count == Self.limit { entries.removeFirst() }
            entries.append(Entry(type: type, keyID: keyID, encoded: encoded))
            return encoded
        }
    }

    private static func encode(_ algorithm: SigningAlgorithm, _ keyID: String, _ type: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("alg")
        writer.string(algorithm.rawValue)
        writer.key("kid")
        writer.string(keyID)
        writer.key("typ")
        writer.string(type)
        writer.endObject()
        var encoded: [UInt8] = []
        Base64URL.append(writer.bytes, to: &encoded)
        encoded.append(UInt8(ascii: "."))
        return encoded
    }
}
