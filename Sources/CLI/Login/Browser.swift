import Glibc
import Platform

/// The browser of the user at this machine.
enum Browser {
    /// Opens a page without waiting for the browser.
    ///
    /// - Returns: The reason no browser was opened, as a sentence; `nil` on success.
    static func open(_ url: String) -> String? {
        if let named = Environment.plain("BROWSER") {
            // The usual format: commands separated by colons, with the URL in place of %s or appended.
            for command in named.split(separator: ":") {
                var words = command.split(separator: " ").map(String.init)
                let takesPlace = words.contains { $0.includes("%s") }
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

    /// Starts a program without standard input and output, which continues to run after this process exits.
    ///
    /// - Returns: The reason the program could not be started; `nil` on success.
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
        // A separate process group, so that Ctrl-C in the terminal affects only this program.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let failure = posix_spawnp(&process, words[0], &actions, &attributes, arguments, environ)
        return failure == 0 ? nil : String(cString: strerror(failure))
    }
}
