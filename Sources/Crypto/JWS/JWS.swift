import Glibc
import Platform

/// A JWS in compact form (RFC 7515 section 7.1) that was parsed but not verified. Its content is an unproven claim and may be used only to
/// find the issuer's keys.
public struct JWS: Sendable {
    /// The protected header.
    public let header: JWSHeader
    /// The decoded payload.
    public let payload: [UInt8]
    /// The decoded signature.
    public let signature: [UInt8]
    /// The signed bytes: the first two parts and the dot between them.
    public let signingInput: ArraySlice<UInt8>

    /// Parses a JWS.
    ///
    /// - Parameters:
    ///   - compact: The bytes of the compact form.
    ///   - maximumCount: The maximum length, in bytes.
    /// - Throws: `JWSError`: `malformed`, `algorithmNotAllowed` or `criticalHeader`.
    public static func parse(_ compact: [UInt8], maximumCount: Int = 65_536) throws(JWSError) -> JWS {
        guard compact.count <= maximumCount else { throw .malformed(.tooLong) }
        guard let first = compact.dot(from: 0), let second = compact.dot(from: first + 1), compact.dot(from: second + 1) == nil
        else { throw .malformed(.parts) }
        return JWS(
            header: try JWSHeader(try decode(compact[..<first], .header)),
            payload: try decode(compact[(first + 1)..<second], .payload),
            signature: try decode(compact[(second + 1)...], .signature),
            signingInput: compact[..<second])
    }

    /// Parses a JWS; see `parse(_:maximumCount:)` for bytes.
    public static func parse(_ compact: String, maximumCount: Int = 65_536) throws(JWSError) -> JWS {
        try parse(Array(compact.utf8), maximumCount: maximumCount)
    }

    private static func decode(_ part: ArraySlice<UInt8>, _ name: JWSError.Part) throws(JWSError) -> [UInt8] {
        guard let bytes = Base64URL.decode(part) else { throw .malformed(.encoding(name)) }
        return bytes
    }
}

extension [UInt8] {
    /// Returns the index of the next dot.
    fileprivate func dot(from start: Int) -> Int? {
        withUnsafeBufferPointer { bytes in
            guard start < bytes.count, let base = bytes.baseAddress, let dot = memchr(base + start, 0x2E, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(dot) - UnsafeRawPointer(base)
        }
    }
}
