import Glibc

/// The terminal settings before input was hidden. A global variable because a signal handler reads it; only `Terminal.ask` writes it.
nonisolated(unsafe) private var shownAgain = termios()

/// Reads input from the user.
enum Terminal {
    /// Prints a prompt to standard error and reads a line from standard input.
    ///
    /// - Parameter isHidden: Whether to hide the input.
    /// - Returns: The line, or `nil` at the end of the input.
    static func ask(_ words: String, isHidden: Bool) -> String? {
        guard isatty(0) == 1 else { return line() }
        guard isHidden else {
            Printing.err(words, terminator: "")
            return line()
        }
        tcgetattr(0, &shownAgain)
        var quiet = shownAgain
        quiet.c_lflag &= ~tcflag_t(ECHO)
        // If a signal interrupts the prompt, the terminal settings are restored.
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
        // The prompt is printed after echo is off, so that input typed in response is never visible.
        Printing.err(words, terminator: "")
        return line()
    }

    /// Reads one byte at a time, so that the next prompt reads the next line.
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
