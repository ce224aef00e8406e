import ArgumentParser
import Glibc

/// A value of the command line or of the environment, and what it was called there, so that a mistake is named where it was made.
struct GivenValue {
    let value: String
    let source: String

    /// - Parameters:
    ///   - given: what the command line says; it goes first.
    ///   - option: as in `--smtp-url`.
    ///   - variables: names of the environment without `MINTMARK_`, the first that is set.
    init?(_ given: String?, _ option: String, _ variables: String...) {
        if let given {
            (value, source) = (given, option)
        } else if let name = variables.first(where: { Environment[$0] != nil }), let found = Environment[name] {
            (value, source) = (found, "MINTMARK_\(name)")
        } else {
            return nil
        }
    }

    /// A secret: the variable itself, or the first line of a file that an option or another variable names. Never an option's own value,
    /// which every user of the machine could read.
    ///
    /// - Throws: `ValidationError` if there are both, and for a file that cannot be read or holds nothing.
    init?(secret variable: String, file given: String?, _ option: String) throws {
        let file = GivenValue(given, option, "\(variable)_FILE")
        guard let text = Environment[variable] else {
            guard let file else { return nil }
            self = try file.contents()
            return
        }
        if let file { throw ValidationError("MINTMARK_\(variable) and \(file.source) exclude each other: both contain the same secret.") }
        (value, source) = (text, "MINTMARK_\(variable)")
    }

    private init(value: String, source: String) { (self.value, self.source) = (value, source) }

    private func contents() throws -> GivenValue {
        func failure(_ reason: String) -> ValidationError { ValidationError("\(source): '\(value)' \(reason).") }
        let file = open(value, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("cannot be read (\(String(cString: strerror(errno))))") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw failure("cannot be read (\(String(cString: strerror(errno))))") }
        let line = bytes[..<count].prefix { $0 != 0x0A && $0 != 0x0D }
        if line.isEmpty { throw failure("has an empty first line") }
        return GivenValue(value: String(decoding: line, as: UTF8.self), source: source)
    }
}
