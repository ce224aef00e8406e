import Glibc

/// The browser of whoever sits at this machine.
enum Browser {
    /// Opens a page, and does not wait for it.
    ///
    /// - Returns: why nothing opens, as a sentence.
    static func open(_ url: String) -> String? {
        if let named = Environment.plain("BROWSER") {
            // As other programs read it: commands between colons, with the address at %s or behind them.
            for command in named.split(separator: ":") {
                var words = command.split(separator: " ").map(String.init)
                let takesPlace = words.contains { $0.contains("%s") }
                words = words.map { replacing("%s", in: $0, with: url) }
                if start(words + (takesPlace ? [] : [url])) == nil { return nil }
            }
            return "the program in BROWSER cannot be started."
        }
        guard Environment.plain("DISPLAY") != nil || Environment.plain("WAYLAND_DISPLAY") != nil else {
            return "no desktop is available (neither DISPLAY nor WAYLAND_DISPLAY is set)."
        }
        return start(["xdg-open", url]).map { "xdg-open cannot be started (\($0))." }
    }

    private static func replacing(_ mark: String, in word: String, with url: String) -> String {
        guard let place = word.firstRange(of: mark) else { return word }
        return word[..<place.lowerBound] + url + word[place.upperBound...]
    }

    /// Starts a program that says nothing and hears nothing of this one, and goes on when this one has ended.
    ///
    /// - Returns: why it does not start.
    private static func start(_ words: [String]) -> String? {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for descriptor in [Int32(1), 2] { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0) }
        // In a group of its own: Ctrl-C in the terminal is for this program alone.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let failure = posix_spawnp(&process, words[0], &actions, &attributes, arguments, environ)
        return failure == 0 ? nil : String(cString: strerror(failure))
    }
}
