import Platform
import Testing

@Suite("texts compared by their bytes")
struct BytesTests {
    @Test("the same bytes are the same, whether a text is short, long, empty or a part of another")
    func same() {
        for text in ["", "a", "login.example.com", "a text of more than fifteen bytes", "é€😀"] {
            #expect(text.hasBytes(of: String(decoding: Array(text.utf8), as: UTF8.self)))
        }
        #expect(String("xlogin.example.com".dropFirst()).hasBytes(of: "login.example.com"))
        #expect(!"login.example.com".hasBytes(of: "login.example.co"))
        #expect(!"login.example.com".hasBytes(of: "login.example.cOm"))
    }

    @Test("what is equal by canonical equivalence and written otherwise is not the same")
    func canonicalEquivalence() {
        #expect("e\u{301}" == "\u{E9}")
        #expect(!"e\u{301}".hasBytes(of: "\u{E9}"))
    }
}
