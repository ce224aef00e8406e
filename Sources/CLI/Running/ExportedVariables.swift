import Glibc

/// The variables that `mintmark run` and `mintmark exec` set for their command.
struct ExportedVariables {
    private(set) var all: [(name: String, value: String)] = []
    /// The variables of this process that must not reach the command, because they would select another store, key or credentials.
    private var removed: Set<String>

    init(removing names: Set<String> = ["MINTMARK_APP"]) { removed = names }

    mutating func set(_ name: String, _ value: String) { all.append((name, value)) }
    mutating func remove(_ name: String) { removed.insert(name) }

    /// The environment of the command.
    var environment: [String] {
        let replaced = removed.union(all.map(\.name))
        var entries: [String] = []
        var place = environ
        while let entry = place.pointee {
            let text = String(cString: entry)
            if !replaced.contains(String(text.prefix { $0 != "=" })) { entries.append(text) }
            place += 1
        }
        return entries + all.map { "\($0.name)=\($0.value)" }
    }

    /// Writes the variables to a file that only this user can read, one `NAME=value` a line, with quotes where a shell needs them.
    ///
    /// - Returns: The reason the file cannot be written; `nil` on success.
    func write(to path: String) -> String? {
        let text = all.map { "\($0.name)=\(Self.quoted($0.value))\n" }.joined()
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard fchmod(descriptor, 0o600) == 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            return String(cString: strerror(errno))
        }
        return nil
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            (0x30...0x39) ~= byte || (0x41...0x5A) ~= byte || (0x61...0x7A) ~= byte || "/:.,_-@%+".utf8.contains(byte)
        }
        return isPlain ? value : "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
