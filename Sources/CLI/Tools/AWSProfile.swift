import Arguments
import Glibc

/// A profile of AWS SDKs whose credentials come from a command.
struct AWSProfile {
    let name: String
    private let command: String
    private let region: String?

    /// - Throws: `ValidationError` for a name or an argument that the file cannot hold.
    init(name: String, command: [String], region: String?) throws {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"[]#;'\"\\".utf8.contains($0) }) else {
            throw ValidationError("--profile '\(name)' contains characters that are not allowed. Use letters, digits, - and _.")
        }
        if let word = command.first(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) {
            throw ValidationError("The argument '\(ToolFailure.line(word))' contains a line break, which the file of AWS SDKs cannot hold.")
        }
        self.name = name
        self.command = command.map(Self.quoted).joined(separator: " ")
        self.region = region
    }

    private var header: String { name == "default" ? "[default]" : "[profile \(name)]" }

    var lines: String {
        ([header, "credential_process = \(command)"] + (region.map { ["region = \($0)"] } ?? [])).joined(separator: "\n")
    }

    /// Adds the profile to the configuration file of AWS SDKs. A profile that exists is not changed.
    ///
    /// - Returns: The message for the user.
    /// - Throws: `ValidationError` if another profile has the name, or the file cannot be read; `ExitCode` after an error message.
    func add() throws -> String {
        guard let path = Environment.plain("AWS_CONFIG_FILE") ?? Environment.plain("HOME").map({ $0 + "/.aws/config" }) else {
            throw ValidationError("HOME is not set. Set AWS_CONFIG_FILE to the configuration file of AWS SDKs.")
        }
        var text = ""
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file >= 0 {
            defer { close(file) }
            guard let bytes = InputFile.readAll(file) else { throw ValidationError("\(path) cannot be read.") }
            text = String(decoding: bytes, as: UTF8.self)
        } else if errno != ENOENT {
            throw ValidationError("\(path) cannot be read (\(String(cString: strerror(errno)))).")
        }
        if let known = section(in: text) {
            guard known == lines else {
                throw ValidationError("\(path) has another profile \(name). Remove it there, or select another name with --profile.")
            }
            return "The profile \(name) is already in \(path)."
        }
        if let folder = path.lastIndex(of: "/").map({ String(path[..<$0]) }), !folder.isEmpty { mkdir(folder, 0o700) }
        if !text.isEmpty { text += text.hasSuffix("\n") ? "\n" : "\n\n" }
        try ToolFailure.reporting { try PrivateFile(path: path).write(text + lines + "\n") }
        return "Added the profile \(name) to \(path)."
    }

    /// Returns the section of this profile, without empty lines and comments at its end; `nil` if there is none.
    private func section(in text: String) -> String? {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        func words(_ line: Substring) -> [Substring] { line.split { " \t\r[]".contains($0) } }
        let wanted = words(header[...])
        guard let start = all.firstIndex(where: { $0.hasPrefix("[") && words($0) == wanted }) else { return nil }
        let rest = all[(start + 1)...].prefix { !$0.hasPrefix("[") }
        let end = rest.lastIndex { line in !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#") && !line.hasPrefix(";") }
        return ([all[start]] + (end.map { Array(rest[...$0]) } ?? [])).joined(separator: "\n")
    }

    /// Quotes a word for a shell, where that is necessary. Some SDKs run the command in a shell, others split it in the same way.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (0x30...0x39) ~= byte || (0x41...0x5A) ~= byte || (0x61...0x7A) ~= byte || "/:.,_-@%+=".utf8.contains(byte)
            }
        return isPlain ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
