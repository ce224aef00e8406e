import Platform
import Testing

@Suite struct ForeignEncodingTests {
    @Test(
        "base64 is read in either alphabet, with padding and without",
        arguments: [
            ("", []), ("Bw==", [7]), ("Bw", [7]), ("+/8=", [0xFB, 0xFF]), ("-_8", [0xFB, 0xFF]), ("AQID", [1, 2, 3]),
        ] as [(String, [UInt8])])
    func base64(_ text: String, _ bytes: [UInt8]) { #expect(Base64.decode(text) == bytes) }

    @Test("what is no base64 is refused", arguments: ["=", "B===", "Bw=", "B", "Bw==x", "a b=", "AQID=", "Bw==" + "="])
    func noBase64(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test("Base32 comes back as it was, with padding and without")
    func base32() {
        for count in 0..<12 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
            #expect(Base32.decode(Base32.encode(bytes)) == bytes)
        }
        #expect(Base32.decode("MZXW6===") == Array("foo".utf8))
        #expect(Base32.decode("mzxw6") == nil)
        #expect(Base32.decode("MZXW1") == nil)
    }
}
