import Platform
import Testing

@Suite("Text in markup and in URLs")
struct MarkupTests {
    @Test("nothing that a text holds is taken for markup, within an element or a quoted attribute")
    func markup() {
        #expect(Markup.escaped("<a href='x'>\"R&D\"</a> é😀") == "&lt;a href=&#39;x&#39;&gt;&quot;R&amp;D&quot;&lt;/a&gt; é😀")
    }

    @Test("RFC 3986: what is not unreserved becomes %XX of its UTF-8, and comes back")
    func percent() {
        #expect(PercentEncoding.encode("a-Z_0.9~ /+é%") == "a-Z_0.9~%20%2F%2B%C3%A9%25")
        #expect(PercentEncoding.encode("a/b c".utf8, keepingSlashes: true) == "a/b%20c")
        #expect(PercentEncoding.decode("a%2Fb%c3%A9%2") == Array("a/bé%2".utf8))
    }
}
