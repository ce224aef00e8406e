import JSON
import Platform
import Testing

@testable import Crypto

/// Decodes hexadecimal text into bytes.
func hex(_ text: String) -> [UInt8] {
    Hex.decode(text) ?? { fatalError("not hexadecimal: \(text)") }()
}

/// Parses JSON from a string literal of a test.
func json(_ text: String) throws -> JSONNode { try JSONText(text).root }

/// The UTF-8 bytes of `text`.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

extension SecretBytes {
    /// The bytes in hexadecimal, for comparison with a published vector.
    var hex: String { withUnsafeBytes { Hex.encode($0) } }
}

/// A compact JWS with the given header, payload and signature.
func compact(header: String, payload: String = "{}", signature: [UInt8] = []) -> String {
    [utf8(header), utf8(payload), signature].map { Base64URL.encode($0) }.joined(separator: ".")
}
