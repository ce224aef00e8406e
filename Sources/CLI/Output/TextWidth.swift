import Glibc

/// The columns of text on a terminal.
enum TextWidth {
    /// The width of the terminal: `COLUMNS`, or what the terminal reports. `nil` if there is no limit.
    static func available(on stream: Printing.Stream = .output) -> Int? {
        if let columns = Environment.plain("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard isatty(stream.rawValue) == 1, ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    static func columns(of text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + columns(of: $1) } }

    /// East Asian wide characters and emoji take two columns (UAX #11), combining marks none.
    static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// Cuts a text to a number of columns. The last column of a text that is too long is `…`.
    static func cut(_ text: String, to width: Int) -> String {
        guard columns(of: text) > width else { return text }
        var (taken, used) = ("", 0)
        for character in text {
            let more = columns(of: String(character))
            if used + more > width - 1 { break }
            taken.append(character)
            used += more
        }
        return taken + "…"
    }

    static func padded(_ text: String, to width: Int) -> String { text + String(repeating: " ", count: max(0, width - columns(of: text))) }

    /// Returns text in which control characters are escaped as in JSON, so that a value cannot control the terminal.
    static func escaped(_ text: String) -> String {
        func controls(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || 0x2028...0x202E ~= scalar.value || 0x2066...0x2069 ~= scalar.value
        }
        guard text.unicodeScalars.contains(where: controls) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if controls(scalar) {
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
