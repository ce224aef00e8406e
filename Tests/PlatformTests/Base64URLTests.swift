import Platform
import Testing

@Suite("base64url and hexadecimal")
struct Base64URLTests {
    @Test(
        "the vectors of RFC 4648 section 10 are encoded in the URL alphabet without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, encoded: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }

    @Test("bytes of every value and length are preserved")
    func roundTrip() {
        for count in 0..<300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test(
        "text that is not the canonical encoding of its bytes is rejected",
        arguments: [
            "Zg==", "Zh", "Zm9", "Z", "Zm9vZ", "Zm9vZm9", "Zm9v=", "=m9v", "Zm9vZg=", "Zm9v\u{7F}m9v", "Zm+v", "Zm/v", "Zm 9v", "Zm9v\n",
            "Zmév",
        ])
    func refusals(text: String) { #expect(Base64URL.decode(text) == nil) }

    @Test("every byte outside the alphabet is rejected at every place of a group")
    func otherBytes() {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for text in ["AAAAAA", "AAAAAAA", "AAAAAAAA"] {
            for place in text.utf8.indices.map({ text.utf8.distance(from: text.utf8.startIndex, to: $0) }) {
                for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
                    var bytes = Array(text.utf8)
                    bytes[place] = byte
                    #expect(Base64URL.decode(bytes) == nil)
                }
            }
        }
    }

    @Test("hexadecimal text with an odd length or other characters is rejected", arguments: ["a", "0g", "é", "0x00", " 00"])
    func hexRefusals(text: String) { #expect(Hex.decode(text) == nil) }
}
