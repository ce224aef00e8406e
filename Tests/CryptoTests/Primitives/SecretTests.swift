import Platform
import Testing

@testable import Crypto

@Suite struct SecretTests {
    @Test("uniquely referenced bytes are taken over, and the description contains only their count")
    func takesOver() {
        let secret = SecretBytes(utf8("swordfish"))
        #expect(secret.hex == Hex.encode("swordfish".utf8))
        #expect("\(secret)" == "<9 secret bytes>")
        #expect(String(reflecting: secret) == "<9 secret bytes>")
    }

    @Test("initialization from shared bytes leaves the original unchanged")
    func leavesCopies() {
        let mine = utf8("swordfish")
        #expect(SecretBytes(mine).count == 9)
        #expect(mine == utf8("swordfish"))
    }

    @Test("wiping overwrites the bytes in place")
    func wipes() {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: Array(repeating: 7, count: 32))
        bytes.wipe()
        #expect(bytes.allSatisfy { $0 == 0 })
    }

    @Test("comparison covers every byte and the length")
    func comparison() {
        #expect(constantTimeEquals(utf8("abc"), utf8("abc")))
        #expect(!constantTimeEquals(utf8("abc"), utf8("abd")))
        #expect(!constantTimeEquals(utf8("abc"), utf8("ab")))
        #expect(constantTimeEquals("", ""))
        #expect(!constantTimeEquals("é", "e\u{301}"))
        #expect(SecretBytes(utf8("abc")).constantTimeEquals(SecretBytes(utf8("abc"))))
        #expect(!SecretBytes(utf8("abc")).constantTimeEquals(SecretBytes(utf8("xbc"))))
    }
}
