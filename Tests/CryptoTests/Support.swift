import JSON
import Platform
import Testing

@testable import Crypto

/// Bytes written in hexadecimal.
func hex(_ text: String) -> [UInt8] {
    Hex.decode(text) ?? { fatalError("not hexadecimal: \(text)") }()
}

/// Parses JSON that the test wrote itself.
func json(_ text: String) throws -> JSONNode { try JSONText(text).root }

/// The bytes of a text.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

extension SecretBytes {
    /// The bytes in hexadecimal, to compare with a published vector.
    var hex: String { withUnsafeBytes { Hex.encode($0) } }
}

/// A compact JWS of any header, payload and signature.
func compact(header: String, payload: String = "{}", signature: [UInt8] = []) -> String {
    [utf8(header), utf8(payload), signature].map { Base64URL.encode($0) }.joined(separator: ".")
}
