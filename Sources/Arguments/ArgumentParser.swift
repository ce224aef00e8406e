/// A command line that does not fit the declared options.
public struct ParseFailure: Error, CustomStringConvertible {
    public let message: String
    public let command: any ParsableCommand.Type
    /// Whether an argument is missing, so that the usage of the command helps.
    public let isIncomplete: Bool

    init(_ message: String, _ command: any ParsableCommand.Type, isIncomplete: Bool = false) {
        self.message = message
        self.command = command
        self.isIncomplete = isIncomplete
    }

    public var description: String { message }
}

/// The options and arguments of a command, in the order of their properties.
struct Declarations {
    struct Entry {
        let slot: Slot
        /// All names with their hyphens; empty for arguments.
        let flags: [String]
        /// The name of the value in help.
        let valueName: String
        /// The heading in help.
        let title: String
    }

    private(set) var entries: [Entry] = []
    private(set) var groups: [any ParsableArguments] = []

    init(of command: some ParsableArguments) { collect(command, title: "") }

    private mutating func collect(_ arguments: some ParsableArguments, title: String) {
        if let properties = arguments.properties {
            for (name, property) in properties { add(property, name, title: title) }
            return
        }
        for (label, value) in Mirror(reflecting: arguments).children {
            guard let property = value as? CommandProperty else { continue }
            add(property, String((label ?? "").drop { $0 == "_" }), title: title)
        }
    }

    private mutating func add(_ property: CommandProperty, _ name: String, title: String) {
        if let holder = property as? SlotHolder {
            let slot = holder.slot
            let flags = slot.kind == .argument ? [] : slot.names.flags(of: name)
            let valueName = slot.help.valueName ?? NameSpecification.hyphenated(name)
            entries.append(Entry(slot: slot, flags: flags, valueName: valueName, title: title))
        } else if let holder = property as? GroupHolder {
            groups.append(holder.group)
            collect(holder.group, title: holder.title.isEmpty ? title : holder.title)
        }
    }
}

/// Assigns the words of a command line to the slots of a command.
struct ArgumentParser {
    private let declared: Declarations
    private let command: any ParsableCommand.Type
    private var positional: [Declarations.Entry]

    init(_ declared: Declarations, of command: any ParsableCommand.Type) {
        self.declared = declared
        self.command = command
        positional = declared.entries.filter { $0.slot.kind == .argument }
    }

    mutating func parse(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        var extra: [String] = []
        while let word = rest.popFirst() {
            if word == "--" {
                while let word = rest.popFirst() { if try !place(word, afterTerminator: true) { extra.append(word) } }
            } else if word.hasPrefix("-"), word != "-" {
                try option(word, &rest)
            } else if try !place(word, afterTerminator: false) {
                extra.append(word)
            } else if positional.first?.slot.arrayParsing == .captureForPassthrough, positional.first?.slot.isRepeated ?? false {
                if rest.first == "--" { rest.removeFirst() }
                while let word = rest.popFirst() { _ = try place(word, afterTerminator: true) }
            }
        }
        if let first = extra.first {
            let all = extra.map { "'\($0)'" }.joined(separator: ", ")
            throw failure(extra.count == 1 ? "Unexpected argument '\(first)'." : "\(extra.count) unexpected arguments: \(all).")
        }
        for entry in declared.entries where entry.slot.isRequired && entry.slot.value == nil {
            let usage = entry.flags.last.map { "\($0) <\(entry.valueName)>" } ?? "<\(entry.valueName)>"
            throw ParseFailure("\(usage) is missing.", command, isIncomplete: true)
        }
    }

    private mutating func option(_ word: String, _ rest: inout ArraySlice<String>) throws {
        var name = word
        var value: String?
        if word.hasPrefix("--"), let sign = word.firstIndex(of: "=") {
            name = String(word[..<sign])
            value = String(word[word.index(after: sign)...])
        } else if !word.hasPrefix("--"), word.count > 2, slot(of: word) == nil {
            // The value follows a letter: -ojson.
            name = String(word.prefix(2))
            value = String(word.dropFirst(2))
        }
        guard let slot = slot(of: name) else {
            if ["--help", "-h"].contains(word) { throw Request.help(command) }
            if word == "--version" { throw Request.version }
            throw failure("Unknown option '\(name)'.\(hint(name))")
        }
        if slot.kind == .flag {
            guard value == nil else { throw failure("The option '\(name)' takes no value.") }
            _ = slot.set("")
            return
        }
        if value == nil, let next = rest.first, slot.takesAnyValue || !next.hasPrefix("-") || next == "-" { value = rest.popFirst() }
        if value == nil, let standing = slot.valueAsFlag {
            slot.value = standing
            return
        }
        guard let value else { throw failure("Missing value for '\(usage(slot, name))'.") }
        if !slot.set(value) { throw invalid(value, usage(slot, name), slot) }
    }

    /// Assigns a word to the next argument. Returns `false` if there is none.
    private mutating func place(_ word: String, afterTerminator: Bool) throws -> Bool {
        guard let entry = positional.first, afterTerminator || entry.slot.arrayParsing != .postTerminator || !entry.slot.isRepeated else {
            return false
        }
        if !entry.slot.set(word) { throw invalid(word, "<\(entry.valueName)>", entry.slot) }
        if !entry.slot.isRepeated { positional.removeFirst() }
        return true
    }

    private func usage(_ slot: Slot, _ name: String) -> String {
        let entry = declared.entries.first { $0.slot === slot }
        return "\(name) <\(entry?.valueName ?? "value")>"
    }

    private func invalid(_ value: String, _ usage: String, _ slot: Slot) -> ParseFailure {
        let values = slot.values.isEmpty ? "" : " Allowed are \(slot.values.joined(separator: ", "))."
        return failure("The value '\(value)' is invalid for '\(usage)'.\(values)")
    }

    private func slot(of flag: String) -> Slot? { declared.entries.first { $0.flags.contains(flag) }?.slot }

    private func failure(_ message: String) -> ParseFailure { ParseFailure(message, command) }

    /// Returns the option with the most similar name, for a message.
    private func hint(_ name: String) -> String {
        let known = declared.entries.flatMap(\.flags).filter { $0.hasPrefix("--") }.sorted()
        return Self.nearest(name, among: known).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// Returns the most similar name, or `nil` if none is similar.
    static func nearest(_ name: String, among known: [String]) -> String? {
        let ranked = known.map { (distance: distance(Array(name.utf8), Array($0.utf8)), name: $0) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= max(2, name.utf8.count / 3),
            best.distance * 2 < name.utf8.count
        else { return nil }
        return best.name
    }

    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices { row.append(min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))) }
            last = row
        }
        return last[b.count]
    }
}
