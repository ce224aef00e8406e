/// Converts between the two forms of an ECDSA signature: the SEQUENCE { r, s } of OpenSSL, and the fixed-length R‖S of JOSE (RFC 7518
/// section 3.4).
enum ECDSASignature {
    /// The maximum length of the DER form: two P-521 numbers, each with a sign byte.
    static let maximumCount = 3 + 2 * (2 + 67)

    /// Writes R‖S of `der`. Returns `false` if `der` does not consist of two numbers that fit.
    static func split(_ der: UnsafeRawBufferPointer, into joined: UnsafeMutableRawBufferPointer) -> Bool {
        var file = DERReader(der)
        guard var pair = file.enter(.sequence), let r = pair.readUnsigned(), let s = pair.readUnsigned() else { return false }
        let half = joined.count / 2
        guard r.count <= half, s.count <= half else { return false }
        joined.initializeMemory(as: UInt8.self, repeating: 0)
        UnsafeMutableRawBufferPointer(rebasing: joined[(half - r.count)..<half]).copyMemory(from: r)
        UnsafeMutableRawBufferPointer(rebasing: joined[(joined.count - s.count)...]).copyMemory(from: s)
        return true
    }

    /// Writes the DER form of R‖S to `space`, which must have `maximumCount` bytes.
    static func join(_ joined: UnsafeRawBufferPointer, in space: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        let half = joined.count / 2
        var writer = DERWriter(space)
        writer.wrap(.sequence) { writer in
            writer.prependUnsigned(UnsafeRawBufferPointer(rebasing: joined[half...]))
            writer.prependUnsigned(UnsafeRawBufferPointer(rebasing: joined[..<half]))
        }
        return writer.written
    }
}
