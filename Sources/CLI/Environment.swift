import ArgumentParser
import Glibc

/// The variables that stand for options: `MINTMARK_STORE` for `--store`.
enum Environment {
    /// The variable `MINTMARK_<name>`, nil if it is not set or empty.
    static subscript(_ name: String) -> String? { plain("MINTMARK_" + name) }

    static func plain(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// - Throws: `ValidationError` for what is neither yes nor no.
    static func flag(_ name: String, or given: Bool) throws -> Bool {
        guard !given, let text = Self[name] else { return given }
        switch text.lowercased() {
        case "1", "true", "yes": return true
        case "0", "false", "no": return false
        default: throw ValidationError("MINTMARK_\(name) is true or false, not '\(text)'.")
        }
    }

    static func integer(_ name: String) throws -> Int64? {
        guard let text = Self[name] else { return nil }
        guard let value = Int64(text) else { throw ValidationError("MINTMARK_\(name) is a number, not '\(text)'.") }
        return value
    }
}
