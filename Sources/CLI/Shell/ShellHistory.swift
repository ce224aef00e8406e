import Contract
import Glibc
import JSON
import Platform

/// The lines that were typed in `mintmark shell`, in a file that only this user can read. Lines with secrets are not kept.
struct ShellHistory {
    private static let maximumCount = 1000
    private(set) var lines: [String] = []
    private let path: String?

    /// Reads the history in `$XDG_STATE_HOME/mintmark/history`, or in `~/.local/state`.
    init() {
        let folder = Environment.plain("XDG_STATE_HOME") ?? Environment.plain("HOME").map { $0 + "/.local/state" }
        path = folder.map { $0 + "/mintmark/history" }
        guard let path else { return }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        let text = InputFile.readAll(file).map { String(decoding: $0, as: UTF8.self) } ?? ""
        lines = text.split(separator: "\n").suffix(Self.maximumCount).map(String.init)
    }

    mutating func add(_ line: String) {
        guard !line.isEmpty, line != lines.last, !Self.hasSecret(line) else { return }
        lines = (lines + [line.replacing("\n", with: " ")]).suffix(Self.maximumCount)
        guard let path else { return }
        var folder = ""
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            mkdir(folder, 0o700)
        }
        let draft = "\(path).\(getpid())"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        let isComplete = write(file, bytes, bytes.count) == bytes.count
        close(file)
        if !isComplete || rename(draft, path) != 0 { unlink(draft) }
    }

    /// Returns whether a line can contain a secret. Lines that cannot be read count as secret if they name a secret parameter.
    private static func hasSecret(_ line: String) -> Bool {
        if line.hasPrefix(".") { return false }
        let words = ShellWords.split(line)
        if let method = words.first, let schema = MethodSchema(of: method) {
            if !CallItems(for: method).visibleSecrets(Array(words.dropFirst())).isEmpty { return true }
            let names = schema.parameters.filter { schema.isSecret($0.schema) }.map(\.name)
            return names.contains { line.includes("\"\($0)\"") }
                || ["password", "secret"].contains { line.lowercased().includes("\"" + $0) }
        }
        return ["password", "secret", "token", "code", "key"].contains { line.lowercased().includes($0) }
    }
}

/// Splits lines of `mintmark shell` into words.
enum ShellWords {
    /// Quotation marks keep spaces in a word. JSON after `:=` extends to its end; an object after the method is one word.
    static func split(_ line: String) -> [String] {
        var words: [String] = []
        var (word, isOpen, quote, depth, isEscaped): (String, Bool, Character?, Int, Bool) = ("", false, nil, 0, false)
        for character in line {
            let isJSON = word.includes(":=") || word.first == "{" || word.first == "[" && words.count == 1
            if let open = quote {
                let ends = character == open && !isEscaped
                if !ends || isJSON && open == "\"" {
                    if isEscaped, !isJSON, character == open { word.removeLast() }
                    word.append(character)
                }
                isEscaped = character == "\\" && !isEscaped
                if ends { quote = nil }
                continue
            }
            if character.isWhitespace, depth == 0 {
                if isOpen { words.append(word) }
                (word, isOpen) = ("", false)
                continue
            }
            isOpen = true
            if character == "\"" || character == "'" && !isJSON {
                quote = character
                isEscaped = false
                if isJSON { word.append(character) }
                continue
            }
            word.append(character)
            if isJSON || word == "{" {
                if character == "{" || character == "[" { depth += 1 }
                if character == "}" || character == "]" { depth = max(0, depth - 1) }
            }
        }
        return isOpen ? words + [word] : words
    }

    /// Returns whether braces and brackets are open at the end of a line, so that the next line continues it.
    static func isIncomplete(_ line: String) -> Bool {
        guard line.contains("{") || line.includes(":=[") else { return false }
        var (depth, isInString, isEscaped) = (0, false, false)
        for character in line {
            if isInString {
                if character == "\"", !isEscaped { isInString = false }
                isEscaped = character == "\\" && !isEscaped
            } else if character == "\"" {
                isInString = true
                isEscaped = false
            } else if character == "{" || character == "[" {
                depth += 1
            } else if character == "}" || character == "]" {
                depth -= 1
            }
        }
        return depth > 0 || isInString
    }
}
