import Testing

@testable import Platform

@Suite("the normalization form NFC")
struct NormalizedTextTests {
    @Test(
        "equal characters get equal encodings",
        arguments: [
            ("plain ASCII", "plain ASCII"), ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("a\u{323}\u{307}", "\u{1EA1}\u{307}"),
            ("a\u{307}\u{323}", "\u{1EA1}\u{307}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"), ("\u{958}", "\u{915}\u{93C}"),
            ("\u{2126}", "\u{3A9}"), ("\u{FB01}", "\u{FB01}"), ("\u{1F511}", "\u{1F511}"), ("", ""),
        ])
    func normalization(text: String, expected: String) {
        #expect(Array(text.nfc.unicodeScalars) == Array(expected.unicodeScalars))
    }
}
