import Glibc

/// How the terminal was before something was hidden on it. A signal handler reads it, so it is here, and nowhere else written.
nonisolated(unsafe) private var shownAgain = termios()

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
        tcgetattr(0, &shownAgain)
        var quiet = shownAgain
        quiet.c_lflag &= ~tcflag_t(ECHO)
        // Whoever breaks the question off gets the terminal back as it was.
        let endings = [SIGINT, SIGTERM, SIGHUP]
        for ending in endings {
            signal(ending) { ending in
                tcsetattr(0, TCSANOW, &shownAgain)
                _exit(128 + ending)
            }
        }
        tcsetattr(0, TCSAFLUSH, &quiet)
        defer {
            tcsetattr(0, TCSAFLUSH, &shownAgain)
            for ending in endings { signal(ending, SIG_DFL) }
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
