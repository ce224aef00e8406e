import Platform
import Testing

struct TextSearchTests {
    @Test(
        "pieces keeps empty parts and stops after the last split",
        arguments: [
            ("", [""]), ("a", ["a"]), ("--", ["", ""]), ("a--b", ["a", "b"]), ("--a----b--", ["", "a", "", "b", ""]),
            ("a-b---c", ["a-b", "-c"]),
            ("é--日本", ["é", "日本"]),
        ])
    func pieces(_ text: String, _ expected: [String]) {
        #expect(text.pieces(separatedBy: "--").map(String.init) == expected)
    }

    @Test("pieces makes at most the given number of splits")
    func mostSplits() {
        #expect("a{}b{}c".pieces(separatedBy: "{}", maxSplits: 1) == ["a", "b{}c"])
        #expect("a{}b".pieces(separatedBy: "{}", maxSplits: 0) == ["a{}b"])
    }

    @Test("replacing replaces from left to right", arguments: [("aaa", "bca"), ("", ""), ("xaay", "xbcy"), ("a", "a")])
    func replacing(_ text: String, _ expected: String) { #expect(text.replacing("aa", with: "bc") == expected) }

    @Test("includes searches a slice of bytes in its own range only")
    func bytes() {
        let slice = Array("name:value".utf8)[2..<8]
        #expect(slice.includes(Array("me:v".utf8)))
        #expect(!slice.includes(Array("na".utf8)))
        #expect(!slice.includes(Array("alue".utf8)))
        #expect(slice.includes([]))
        #expect(![UInt8]()[...].includes([0]))
    }
}
