import Platform
import Testing

@Suite("comparison of texts by their bytes")
struct BytesTests {
    @Test("texts with equal bytes are equal, including short, long, empty and partial texts")
    func same() {
        for text in ["", "a", "login.example.com", "a text of more than fifteen bytes", "é€😀"] {
            #expect(text.hasBytes(of: String(decoding: Array(text.utf8), as: UTF8.self)))
        }
        #expect(String("xlogin.example.com".dropFirst()).hasBytes(of: "login.example.com"))
        #expect(!"login.example.com".hasBytes(of: "login.example.co"))
        #expect(!"login.example.com".hasBytes(of: "login.example.cOm"))
    }

    @Test("texts that are only canonically equivalent are not equal")
    func canonicalEquivalence() {
        #expect("e\u{301}" == "\u{E9}")
        #expect(!"e\u{301}".hasBytes(of: "\u{E9}"))
    }
}
