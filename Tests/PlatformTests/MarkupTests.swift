import Platform
import Testing

@Suite("text in markup and in URLs")
struct MarkupTests {
    @Test("escaped text contains no markup, in element content and in quoted attributes")
    func markup() {
        #expect(Markup.escaped("<a href='x'>\"R&D\"</a> é😀") == "&lt;a href=&#39;x&#39;&gt;&quot;R&amp;D&quot;&lt;/a&gt; é😀")
    }

    @Test("characters outside of the unreserved set of RFC 3986 are percent-encoded as UTF-8 and decoded again")
    func percent() {
        #expect(PercentEncoding.encode("a-Z_0.9~ /+é%") == "a-Z_0.9~%20%2F%2B%C3%A9%25")
        #expect(PercentEncoding.encode("a/b c".utf8, keepingSlashes: true) == "a/b%20c")
        #expect(PercentEncoding.decode("a%2Fb%c3%A9%2") == Array("a/bé%2".utf8))
    }
}
