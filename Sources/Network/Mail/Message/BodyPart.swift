import Platform

/// A text as a MIME part: its header, an empty line, and its content in the shorter of the two encodings (RFC 2045 section 6).
struct BodyPart {
    let bytes: [UInt8]

    init(_ text: String, subtype: String) {
        let lines = Self.lines(Array(text.utf8))
        let quoted = QuotedPrintable.encode(lines)
        let content = Array(lines.joined(separator: crlf))
        let isQuoted = quoted.count <= (content.count + 2) / 3 * 4
        var header = HeaderText()
        header.add("Content-Type", ["text/\(subtype);", "charset=utf-8"])
        header.add("Content-Transfer-Encoding", [isQuoted ? "quoted-printable" : "base64"])
        bytes = header.bytes + crlf + (isQuoted ? quoted : Array(Base64.lines(content)))
    }

    /// Returns the lines of a text, which can end with CR, LF or CR LF.
    private static func lines(_ text: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var last: UInt8 = 0
        for byte in text {
            switch (last, byte) {
            case (0x0d, 0x0a): break
            case (_, 0x0d), (_, 0x0a): lines.append([])
            default: lines[lines.count - 1].append(byte)
            }
            last = byte
        }
        return lines
    }
}

/// The quoted-printable encoding (RFC 2045 section 6.7).
enum QuotedPrintable {
    private static let digits = Array("0123456789ABCDEF".utf8)
    private static let equals = UInt8(ascii: "=")

    /// Encodes lines. Each results in lines of at most 76 bytes.
    static func encode(_ lines: [[UInt8]]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(lines.reduce(0) { $0 + $1.count + 2 })
        for (number, line) in lines.enumerated() {
            if number > 0 { output += crlf }
            var width = 0
            for (position, byte) in line.enumerated() {
                let isLast = position == line.count - 1
                let isBlank = byte == 0x20 || byte == 0x09
                let stands = (0x21...0x7e).contains(byte) && byte != equals || isBlank && !isLast
                let count = stands ? 1 : 3
                if width + count > (isLast ? 76 : 75) {
                    output.append(equals)
                    output += crlf
                    width = 0
                }
                if stands {
                    output.append(byte)
                } else {
                    output.append(equals)
                    output.append(digits[Int(byte >> 4)])
                    output.append(digits[Int(byte & 15)])
                }
                width += count
            }
        }
        return output
    }
}

extension Base64 {
    /// Encodes bytes in lines of 76 bytes (RFC 2045 section 6.8).
    static func lines(_ bytes: [UInt8]) -> [UInt8] {
        let starts = stride(from: 0, to: bytes.count, by: 57)
        return Array(starts.map { Array(encode(bytes[$0..<min($0 + 57, bytes.count)]).utf8) }.joined(separator: crlf))
    }
}
