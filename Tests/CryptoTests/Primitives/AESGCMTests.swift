import Crypto
import Platform
import Testing

@Suite struct AESGCMTests {
    static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    static let nonce = "cafebabefacedbaddecaf888"
    static let plaintext =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
    static let ciphertext =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"

    /// The test cases with 256-bit keys and 96-bit nonces of the GCM specification by McGrew and Viega, which NIST's
    /// validation also uses.
    static let cases: [(key: String, nonce: String, plaintext: String, context: String, sealed: String)] = [
        (zeros(32), zeros(12), "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
        (zeros(32), zeros(12), zeros(16), "", "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        (key, nonce, plaintext, "", ciphertext + "b094dac5d93471bdec1a502270e3cc6c"),
        (
            key, nonce, String(plaintext.prefix(120)), "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            ciphertext.prefix(120) + "76fc6ece0f4e1768cddf8853bb2d551b"
        ),
    ]

    static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

    @Test("AES-256-GCM matches the specification's test cases 13 to 16", arguments: 0..<cases.count)
    func vector(_ index: Int) throws {
        let (key, nonce, plaintext, context, sealed) = Self.cases[index]
        let secret = SecretBytes(hex(key))
        #expect(
            Hex.encode(AESGCM.seal(hex(plaintext), key: secret, nonce: hex(nonce), authenticating: hex(context))) == sealed)
        #expect(try AESGCM.open(hex(sealed), key: secret, nonce: hex(nonce), authenticating: hex(context)) == hex(plaintext))
    }

    let secret = SecretBytes(hex(key))
    let sealed = AESGCM.seal(utf8("secret"), key: SecretBytes(hex(key)), nonce: hex(nonce), authenticating: utf8("row 7"))

    @Test("a change of any bit is detected")
    func tampering() {
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: AESGCM.Refusal.notAuthentic) {
                try AESGCM.open(changed, key: secret, nonce: hex(Self.nonce), authenticating: utf8("row 7"))
            }
        }
    }

    @Test("another context, nonce or key fails to decrypt")
    func otherInputs() {
        #expect(throws: AESGCM.Refusal.notAuthentic) {
            try AESGCM.open(sealed, key: secret, nonce: hex(Self.nonce), authenticating: utf8("row 8"))
        }
        #expect(throws: AESGCM.Refusal.notAuthentic) {
            try AESGCM.open(sealed, key: secret, nonce: hex(Self.zeros(12)), authenticating: utf8("row 7"))
        }
        #expect(throws: AESGCM.Refusal.notAuthentic) {
            try AESGCM.open(sealed, key: SecretBytes(hex(Self.zeros(32))), nonce: hex(Self.nonce), authenticating: utf8("row 7"))
        }
    }

    @Test("stored bytes, keys and nonces of wrong lengths are malformed and do not crash")
    func lengths() {
        for (bytes, key, nonce) in [(Array(sealed.prefix(15)), 32, 12), (sealed, 16, 12), (sealed, 32, 16)] {
            #expect(throws: AESGCM.Refusal.malformed) {
                try AESGCM.open(
                    bytes, key: SecretBytes(hex(Self.zeros(key))), nonce: hex(Self.zeros(nonce)), authenticating: [])
            }
        }
    }
}
