import Crypto
import Testing

@Suite struct PBKDF2Tests {
    @Test("PBKDF2 matches RFC 6070 and Python's hashlib")
    func vectors() throws {
        func derive(_ digest: PBKDF2.Digest, _ iterations: Int, count: Int) throws -> String {
            try PBKDF2.derive(digest, password: SecretBytes(utf8("password")), salt: utf8("salt"), iterations: iterations, count: count).hex
        }
        #expect(try derive(.sha1, 1, count: 20) == "0c60c80f961f0e71f3a9b524af6012062fe037a6")
        #expect(try derive(.sha1, 4096, count: 20) == "4b007901b765489abead49d926f721d065a429c1")
        #expect(try derive(.sha256, 4096, count: 32) == "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a")
        #expect(try derive(.sha512, 1000, count: 32) == "afe6c5530785b6cc6b1c6453384731bd5ee432ee549fd42fb6695779ad8a1c5b")
    }

    @Test("an empty password and an empty salt are accepted")
    func empty() throws {
        // hashlib.pbkdf2_hmac("sha256", b"", b"", 1, 16)
        #expect(
            try PBKDF2.derive(.sha256, password: SecretBytes([]), salt: [], iterations: 1, count: 16).hex
                == "f7ce0b653d2d72a4108cf5abe912ffdd")
    }

    @Test("iterations and lengths outside of the allowed range are rejected", arguments: [(0, 32), (-1, 32), (1, 0), (1, 1 << 17)])
    func refusals(_ iterations: Int, _ count: Int) {
        #expect(throws: PBKDF2.Refusal.unacceptableParameters) {
            try PBKDF2.derive(.sha1, password: SecretBytes(utf8("p")), salt: utf8("s"), iterations: iterations, count: count)
        }
    }
}
