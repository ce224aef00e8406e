import Glibc

/// What a person types.
enum Terminal {
    /// Asks for a line on standard error, and reads it from standard input.
    ///
    /// - Parameter isHidden: whether what is typed is not to be seen.
    /// - Returns: nil at the end of the input.
    static func ask(_ words: String, isHidden: Bool) -> String? {
        guard isatty(0) == 1 else { return line() }
        guard isHidden else {
            Printing.err(words, terminator: "")
            return line()
        }
        var before = termios()
        tcgetattr(0, &before)
        var quiet = before
        quiet.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(0, TCSAFLUSH, &quiet)
        defer {
            tcsetattr(0, TCSAFLUSH, &before)
            Printing.err("")
        }
        // Only now: whoever answers the question is not to be seen.
        Printing.err(words, terminator: "")
        return line()
    }

    /// One byte at a time, so that the next question finds the next line.
    private static func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == 0x0A { return String(decoding: bytes.last == 0x0D ? bytes.dropLast() : bytes[...], as: UTF8.self) }
            if bytes.count < 4096 { bytes.append(byte) }
        }
    }
}
