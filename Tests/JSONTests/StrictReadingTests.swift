import JSON
import Testing

@Suite("strict JSON parsing")
struct StrictReadingTests {
    @Test(
        "valid texts are parsed and written back",
        arguments: [
            ("null", "null"), (" true ", "true"), ("\t\r\n[ ]", "[]"), ("{ }", "{}"), ("0", "0"), ("-0", "-0"), ("0e1", "0e1"),
            ("1E+2", "1E+2"),
            ("12345678901234567890.123456789e-400", "12345678901234567890.123456789e-400"),
            (#"{"a":[1,{"b":null}],"c":"d"}"#, #"{"a":[1,{"b":null}],"c":"d"}"#),
            (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\b\f\n\r\t""#), (#""\u0001\u001f\u0041é""#, #""\u0001\u001fAé""#),
            (#""\ud83d\ude00\uD83D\uDE00""#, #""😀😀""#), (#""\u0000""#, #""\u0000""#),
            (#"{"":1,"é":2,"e\u0301":3}"#, "{\"\":1,\"é\":2,\"e\u{301}\":3}"),
        ])
    func valid(text: String, written: String) throws { #expect(try JSONValue(parsing: text).text == written) }

    @Test(
        "invalid JSON is rejected with the reason and the byte offset",
        arguments: [
            ("", .empty, 0), ("  ", .empty, 2), ("nul", .invalidLiteral, 0), ("True", .unexpectedByte, 0), ("nullx", .trailingBytes, 4),
            ("[1,]", .trailingComma, 3), (#"{"a":1,}"#, .trailingComma, 7), ("[1 2]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1),
            (#"{"a" 1}"#, .unexpectedByte, 5), (#"{a:1}"#, .unexpectedByte, 1), (#"{"a":}"#, .unexpectedByte, 5), ("[", .unexpectedEnd, 1),
            (#"{"a""#, .unexpectedEnd, 4), (#"{"a":1"#, .unexpectedEnd, 6), ("[1", .unexpectedEnd, 2), ("01", .invalidNumber, 1),
            ("-", .unexpectedEnd, 1), ("-a", .invalidNumber, 1),
            ("1.", .unexpectedEnd, 2), ("1.e1", .invalidNumber, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
            ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
            ("NaN", .unexpectedByte, 0), ("0x1", .trailingBytes, 1), (#"""#, .unexpectedEnd, 1), ("\"a\u{1}\"", .controlCharacter, 2),
            ("\"\n\"", .controlCharacter, 1),
            (#""\x""#, .invalidEscape, 1), (#""\u12g4""#, .invalidEscape, 5), (#""\u12"#, .unexpectedEnd, 5),
            (#""\ud800""#, .loneSurrogate, 1),
            (#""\ud800\u0041""#, .loneSurrogate, 1), (#""\udc00""#, .loneSurrogate, 1), (#""\ud800x""#, .loneSurrogate, 1),
            (#"{"a":1,"a":2}"#, .duplicateName, 7), (#"{"a":1,"\u0061":2}"#, .duplicateName, 7),
            (#"{"x":{"b":[],"b":0}}"#, .duplicateName, 13),
            ("\u{FEFF}1", .unexpectedByte, 0), ("1 1", .trailingBytes, 2), ("[]]", .trailingBytes, 2), ("'a'", .unexpectedByte, 0),
            ("/*c*/1", .unexpectedByte, 0),
        ] as [(String, JSONSyntaxError.Reason, Int)])
    func refused(text: String, reason: JSONSyntaxError.Reason, offset: Int) {
        #expect(throws: JSONSyntaxError(reason, at: offset)) { try JSONText(text) }
    }

    @Test(
        "bytes that are not valid UTF-8 are rejected",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xE2, 0x82],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xF0, 0x9F, 0x98, 0x28],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        #expect(throws: JSONSyntaxError(.invalidUTF8, at: 2)) { try JSONText([0x22, 0x61] + bytes + [0x22]) }
    }

    @Test("every Unicode scalar is preserved, raw and escaped")
    func everyScalar() throws {
        for value in UInt32(0)...0x10FFFF {
            guard value % 97 == 0 || value < 0x900 || value > 0x10FF00, let scalar = Unicode.Scalar(value) else { continue }
            let text = String(Character(scalar))
            let escaped = text.utf16.map { "\\u" + String(0x10000 + UInt32($0), radix: 16).dropFirst() }.joined()
            #expect(try JSONText(JSONValue.string(text).bytes).root.string?.utf8.elementsEqual(text.utf8) == true)
            #expect(try JSONText("\"\(escaped)\"").root.string?.utf8.elementsEqual(text.utf8) == true)
        }
    }

    @Test("escaping of every byte is correct at every position in a string")
    func everyPlace() throws {
        for byte in UInt8(0)..<0x80 {
            for place in 0..<20 {
                var bytes = Array("aé~bcdefghijklmnopqrst".utf8)
                bytes.insert(byte, at: place == 2 ? 3 : place)
                let text = String(decoding: bytes, as: UTF8.self)
                let written = JSONValue.string(text).bytes
                #expect(!written.contains { $0 < 0x20 })
                #expect(try JSONText(written).root.string == text)
            }
        }
    }

    @Test("nesting is accepted up to the limit and rejected above it")
    func depth() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try JSONValue(parsing: deepest).text == deepest)
        #expect(throws: JSONSyntaxError(.tooDeep, at: 64)) { try JSONText("[" + deepest + "]") }
        #expect(throws: JSONSyntaxError(.tooDeep, at: 64)) { try JSONText(String(repeating: "[", count: 100_000)) }
        #expect(throws: JSONSyntaxError(.tooDeep, at: 5 * 64)) { try JSONText(String(repeating: #"{"a":"#, count: 100_000)) }
    }

    @Test("a duplicate name among thousands of members is rejected")
    func manyNames() throws {
        let names = (0..<5_000).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        #expect(try JSONText("{\(names)}").root.count == 5_000)
        #expect(throws: JSONSyntaxError.self) { try JSONText("{\(names),\"n4711\":0}") }
    }

    @Test("truncated texts are rejected, and texts with flipped bits never crash the parser")
    func mutilated() throws {
        let whole = Array(#"{"a":[1,-2.5e3,true,false,null,"x\u00e9\ud83d\ude00é"],"b":{"c":{}}}"#.utf8)
        for end in 0..<whole.count { #expect(throws: JSONSyntaxError.self) { try JSONText(Array(whole[..<end])) } }
        for index in whole.indices {
            for bit in 0..<8 {
                var flipped = whole
                flipped[index] ^= 1 << bit
                if let text = try? JSONText(flipped) { #expect(try JSONValue(parsing: text.root.value.bytes) == text.root.value) }
            }
        }
    }
}
