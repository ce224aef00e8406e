import Arguments
import Glibc

/// A value from the command line or the environment, and its source for use in error messages.
struct OptionValue {
    let value: String
    let source: String

    /// - Parameters:
    ///   - given: The value on the command line, which takes precedence.
    ///   - option: The name of the option, such as `--smtp-url`.
    ///   - variables: The names of variables without `MINTMARK_`. The first one that is set is used.
    init?(_ given: String?, _ option: String, _ variables: String...) {
        if let given {
            (value, source) = (given, option)
        } else if let name = variables.first(where: { Environment[$0] != nil }), let found = Environment[name] {
            (value, source) = (found, "MINTMARK_\(name)")
        } else {
            return nil
        }
    }

    /// Reads a secret from the variable itself, or from the first line of a file that an option or another variable names. An option never
    /// contains the secret itself, because every user of the machine could read it.
    ///
    /// - Throws: `ValidationError` if both are given, and if the file cannot be read or its first line is empty.
    init?(secret variable: String, file given: String?, _ option: String) throws {
        let file = OptionValue(given, option, "\(variable)_FILE")
        guard let text = Environment[variable] else {
            guard let file else { return nil }
            self = try file.contents()
            return
        }
        if let file { throw ValidationError("MINTMARK_\(variable) and \(file.source) exclude each other: both contain the same secret.") }
        (value, source) = (text, "MINTMARK_\(variable)")
    }

    private init(value: String, source: String) { (self.value, self.source) = (value, source) }

    private func contents() throws -> OptionValue {
        func failure(_ reason: String) -> ValidationError { ValidationError("\(source): '\(value)' \(reason).") }
        let file = open(value, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("cannot be read (\(String(cString: strerror(errno))))") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw failure("cannot be read (\(String(cString: strerror(errno))))") }
        let line = bytes[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
        if line.isEmpty { throw failure("has an empty first line") }
        return OptionValue(value: String(decoding: line, as: UTF8.self), source: source)
    }

    /// Returns the source of a value for messages: the option, or the environment variable that corresponds to it.
    ///
    /// - Parameters:
    ///   - option: The name of the option, such as `--log-level`.
    ///   - isGiven: Whether the option is on the command line.
    static func source(_ option: String, isGiven: Bool) -> String {
        if isGiven { return option }
        let name = option.uppercased().utf8.dropFirst(2).map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
        return "MINTMARK_" + String(decoding: name, as: UTF8.self)
    }
}
