import Crypto
import Platform
import Testing

@Suite struct HMACTests {
    static let cases: [(key: [UInt8], message: [UInt8], digest: String)] = [
        (
            Array(repeating: 0x0b, count: 20), utf8("Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            utf8("Jefe"), utf8("what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xaa, count: 20), Array(repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), Array(repeating: 0xcd, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            Array(repeating: 0xaa, count: 131), utf8("Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            Array(repeating: 0xaa, count: 131),
            utf8(
                "This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test("HMAC-SHA-256 matches RFC 4231 section 4", arguments: 0..<cases.count)
    func vector(_ index: Int) {
        let (key, message, digest) = Self.cases[index]
        #expect(Hex.encode(HMAC.sha256(key: key, message)) == digest)
        #expect(Hex.encode(HMAC.sha256(key: SecretBytes(key), message)) == digest)
    }

    @Test("an empty key is accepted")
    func emptyKey() {
        #expect(
            Hex.encode(HMAC.sha256(key: [UInt8](), []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }
}
