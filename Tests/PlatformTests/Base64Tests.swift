import Platform
import Testing

@Suite struct ForeignEncodingTests {
    @Test(
        "Base64 is decoded in both alphabets, with and without padding",
        arguments: [
            ("", []), ("Bw==", [7]), ("Bw", [7]), ("+/8=", [0xFB, 0xFF]), ("-_8", [0xFB, 0xFF]), ("AQID", [1, 2, 3]),
        ] as [(String, [UInt8])])
    func base64(_ text: String, _ bytes: [UInt8]) { #expect(Base64.decode(text) == bytes) }

    @Test("text that is not Base64 is rejected", arguments: ["=", "B===", "Bw=", "B", "Bw==x", "a b=", "AQID=", "Bw==" + "="])
    func noBase64(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test("Base32 is decoded to the encoded bytes, with and without padding")
    func base32() {
        for count in 0..<12 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
            #expect(Base32.decode(Base32.encode(bytes)) == bytes)
        }
        // RFC 4648 section 10
        let vectors = ["": "", "f": "MY", "fo": "MZXQ", "foo": "MZXW6", "foob": "MZXW6YQ", "fooba": "MZXW6YTB", "foobar": "MZXW6YTBOI"]
        for (text, encoded) in vectors { #expect(Base32.encode(Array(text.utf8)) == encoded) }
        #expect(Base32.decode("MZXW6===") == Array("foo".utf8))
        #expect(Base32.decode("mzxw6") == nil)
        #expect(Base32.decode("MZXW1") == nil)
    }
}
