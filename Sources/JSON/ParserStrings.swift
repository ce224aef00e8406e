/// Parses strings: plain ASCII characters, escapes and multibyte characters.
extension Parser {
    mutating func string() throws(JSONSyntaxError) {
        position += 1
        let start = position
        var shape = Tape.Shape.plainString
        while true {
            skipPlain()
            guard position < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, at: position) }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                append(shape, from: start, to: position)
                position += 1
                return
            case UInt8(ascii: "\\"):
                shape = .escapedString
                try escape()
            case 0..<0x20: throw JSONSyntaxError(.controlCharacter, at: position)
            case 0x20..<0x80: position += 1
            default: try multibyte()
            }
        }
    }

    /// Advances to the next byte that is not plain ASCII, eight bytes at a time while eight are left. In a word, a byte below 0x20, a quote
    /// or a backslash borrows into its high bit; a non-ASCII byte already has that bit set. A borrow may mark a later byte incorrectly, but
    /// never an earlier one, so the first mark is always correct.
    private mutating func skipPlain() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let raw = UnsafeRawBufferPointer(bytes)
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let special =
                (word &- ones &* 0x20) | ((word ^ (ones &* 0x22)) &- ones) | ((word ^ (ones &* 0x5C)) &- ones) | word
            let marks = special & 0x8080_8080_8080_8080
            guard marks == 0 else {
                position += marks.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
    }

    private mutating func escape() throws(JSONSyntaxError) {
        let start = position
        position += 1
        switch try current() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: position + 1)
            position += 5
            if 0xD800..<0xDC00 ~= unit {
                guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u"),
                    0xDC00..<0xE000 ~= (try codeUnit(at: position + 2))
                else { throw JSONSyntaxError(.loneSurrogate, at: start) }
                position += 6
            } else if 0xDC00..<0xE000 ~= unit {
                throw JSONSyntaxError(.loneSurrogate, at: start)
            }
        default: throw JSONSyntaxError(.invalidEscape, at: start)
        }
    }

    private func codeUnit(at start: Int) throws(JSONSyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for index in start..<start + 4 {
            guard index < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, at: bytes.count) }
            guard let digit = hexValue(bytes[index]) else { throw JSONSyntaxError(.invalidEscape, at: index) }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Parses one character of two to four bytes. Rejects overlong forms, surrogates and values above U+10FFFF (RFC 3629).
    private mutating func multibyte() throws(JSONSyntaxError) {
        let first = bytes[position]
        let length: Int
        let second: ClosedRange<UInt8>
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONSyntaxError(.invalidUTF8, at: position)
        }
        guard position + length <= bytes.count, second ~= bytes[position + 1],
            (2..<length).allSatisfy({ bytes[position + $0] & 0xC0 == 0x80 })
        else { throw JSONSyntaxError(.invalidUTF8, at: position) }
        position += length
    }
}

/// Returns the value of a hexadecimal digit.
func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
