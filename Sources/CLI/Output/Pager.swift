import Arguments
import Glibc

/// Shows text that is longer than the screen in a pager.
///
/// While it collects, `Printing.out` keeps the text. `finish` writes the text, or starts the pager with it.
enum Pager {
    /// The text so far; `nil` if output is not collected. Only the main thread uses it.
    nonisolated(unsafe) private static var collected: String?

    /// The commands with long output.
    private static let commands = ["help", "man", "methods", "describe"]

    /// Begins to collect output if the command can have long output, and standard input and output are a terminal.
    static func begin(_ arguments: [String]) {
        let isLong = arguments.first.map { commands.contains($0) } ?? false || arguments.contains { ["--help", "-h"].contains($0) }
        // A pager reads its keys from the terminal: without one as standard input, it could wait forever.
        if isLong, !arguments.contains("--no-pager"), isatty(0) == 1, isatty(1) == 1 { collected = "" }
    }

    /// Keeps a text, and returns `false` if output is not collected.
    static func collect(_ text: String) -> Bool {
        guard collected != nil else { return false }
        collected! += text
        return true
    }

    /// Writes the text that was collected.
    ///
    /// - Throws: `ExitCode` if standard output cannot be written.
    static func finish() throws {
        guard let text = collected else { return }
        collected = nil
        if text.isEmpty { return }
        if isLongerThanTheScreen(text), let command, show(text, in: command) { return }
        try Printing.out(text, terminator: "")
    }

    /// The command line of the pager, or `nil` if text is written without one: a variable that is set but empty means none.
    private static var command: String? {
        for name in ["MINTMARK_PAGER", "PAGER"] {
            guard let value = getenv(name) else { continue }
            let text = String(cString: value)
            return text.isEmpty || text == "cat" ? nil : text
        }
        return "less -FRX"
    }

    private static func isLongerThanTheScreen(_ text: String) -> Bool {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0
        let height = isKnown ? Int(size.ws_row) : Environment.plain("LINES").flatMap { Int($0) } ?? 24
        let width = max(TextWidth.available() ?? 80, 1)
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().reduce(0) { rows, line in
            rows + max(1, (TextWidth.columns(of: withoutColors(line)) + width - 1) / width)
        }
        return rows >= height
    }

    private static func withoutColors(_ line: Substring) -> String {
        var text = ""
        var rest = line[...]
        while let color = rest.firstRange(of: "\u{1B}["), let end = rest[color.upperBound...].firstIndex(of: "m") {
            text += rest[..<color.lowerBound]
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }

    /// Shows a text in a program, and returns `false` if the program cannot be started.
    static func show(_ text: String, in command: String) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Ctrl-C belongs to the pager.
        let before = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, before) }
        guard let child = start(command, input: ends[0]) else {
            ends.forEach { close($0) }
            return false
        }
        close(ends[0])
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // The user has ended the pager.
            if count <= 0 { break }
            bytes = bytes.dropFirst(count)
        }
        close(ends[1])
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        // 126 and 127: the shell could not start the pager.
        return status & 0x7F != 0 || ![126, 127].contains(status >> 8 & 0xFF)
    }

    private static func start(_ command: String, input: Int32) -> pid_t? {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        // This program ignores them, which the pager would inherit.
        var usual = sigset_t()
        sigemptyset(&usual)
        for number in [SIGINT, SIGPIPE] { sigaddset(&usual, number) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let words = ["sh", "-c", command]
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child = pid_t()
        return posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ) == 0 ? child : nil
    }
}

/// The option of the commands with long output.
struct PagerOption: ParsableArguments {
    @Flag(help: "Do not start a pager on a terminal.")
    var noPager = false
}
