import Arguments
import Contract
import Glibc
import JSON
import Mintmark
import Platform

/// The variables of a shell: `$_` is the last result.
struct ShellVariables {
    private var values: JSONObject = [:]

    var names: [String] { values.names.map { "$" + $0 } }
    var members: [(name: String, value: JSONValue)] { values.members }

    mutating func set(_ name: String, _ value: JSONValue) { values[name] = value }

    /// Returns the value of `$name`, or of a member, such as `$_.accounts[0].accountId`.
    ///
    /// - Throws: `ValidationError` if there is no such value.
    func value(_ expression: String) throws -> JSONValue {
        let path = expression.dropFirst()
        let name = String(path.prefix { $0 != "." && $0 != "[" })
        guard let value = values[name] else {
            let known = names.isEmpty ? "There are no variables yet." : "Variables: \(names.joined(separator: ", "))."
            throw ValidationError("Unknown variable $\(name). \(known) For a dollar sign, write \\$.")
        }
        let rest = String(path.dropFirst(name.count))
        if rest.isEmpty { return value }
        guard let member = ResultPrinter.member(rest, of: value) else {
            let members = value.object?.names.joined(separator: ", ") ?? ""
            throw ValidationError("\(expression) does not exist.\(members.isEmpty ? "" : " $\(name) has \(members).")")
        }
        return member
    }
}

/// Carries out the statements of `mintmark shell`, one after another.
final class ShellSession {
    private var settings: StoreSettings
    private var mintmark: Mintmark
    private var calls: LocalCalls
    private var printer = ResultPrinter()
    private var output: Int32?
    private let isInteractive = isatty(0) == 1
    private(set) var variables = ShellVariables()
    let completion = ShellCompletion()
    var history: [String] = []
    /// Prints the help of a topic, such as a guide or a method.
    private let showTopic: (String) throws -> Void
    /// Returns the next line of the input that is not a terminal.
    var nextLine: (() -> String?)?

    /// - Parameter showTopic: Prints the help of a topic.
    init(_ settings: StoreSettings, showTopic: @escaping (String) throws -> Void) throws {
        self.settings = settings
        self.showTopic = showTopic
        mintmark = try Mintmark(settings, logsTo: LogRing())
        calls = try LocalCalls(mintmark)
        if !isInteractive { printer.isForTerminal = false }
    }

    func close() {
        calls.close()
        mintmark.close()
        if let output { Glibc.close(output) }
    }

    var prompt: String { (settings.app ?? "mintmark") + "> " }

    func banner() throws {
        try Printing.out("Mintmark \(Mintmark.version), store \(storeText). Type .help for help, .quit or Ctrl-D to end.")
    }

    private var storeText: String {
        switch mintmark.configuration.store {
        case .file(let path): path
        case .postgres: "in PostgreSQL"
        default: "in memory"
        }
    }

    /// Carries out a line.
    ///
    /// - Returns: `false` for `.quit`.
    func run(_ line: String) throws -> Bool {
        let text = line.trimmed
        if text.isEmpty || text.hasPrefix("#") { return true }
        if text.hasPrefix(".") { return try command(text) }
        if text.hasPrefix("{") {
            try requestLine(text)
            return true
        }
        let words = ShellWords.split(text)
        let method = words[0]
        var notation = CallItems(for: method)
        notation.variable = { [variables] in try variables.value($0) }
        notation.secret = { [self] label in
            let answer = isInteractive ? Terminal.ask("\(label): ", isHidden: true) : nextLine?()
            guard let answer else { throw ValidationError("\(label)=? needs a value, and the input has ended.") }
            return answer
        }
        let params = try notation.parameters(Array(words.dropFirst()))
        let caller = MethodCaller(calls, style: .auto)
        try show(caller.result(method, params), of: method)
        return true
    }

    /// Prints an error. Returns the exit code.
    func report(_ error: any Error) -> ExitCode {
        switch error {
        case let failure as MethodCaller.Failure:
            let code = failure.printed() as? ExitCode ?? .failure
            if let next = failure.next { Printing.err("Next: \(next) …") }
            return code
        case let error as ValidationError:
            Printing.err("\(Printing.errorWord) \(TextWidth.escaped(error.message))")
            return .validationFailure
        case let error as ParseFailure:
            Printing.err("\(Printing.errorWord) \(error.message)")
            return .validationFailure
        case let code as ExitCode: return code
        default:
            Printing.err("\(Printing.errorWord) \(error)")
            return .failure
        }
    }

    private func requestLine(_ text: String) throws {
        let request: JSONValue
        do { request = try JSONValue(parsing: text) } catch { throw ValidationError("The line is not valid JSON: \(error).") }
        guard let method = request["method"]?.string, request["id"] != nil else {
            throw ValidationError("A line of JSON-RPC needs the members jsonrpc, id and method.")
        }
        let answer = calls.send(request)
        guard let result = answer["result"] else { throw MethodCaller.Failure(error: answer["error"] ?? [:]) }
        try show(result, of: method)
    }

    private func show(_ result: JSONValue, of method: String) throws {
        variables.set("_", result)
        try printer.print(result, of: method)
    }

    // MARK: Dot commands

    static let commands: [(name: String, usage: String, text: String)] = [
        (".help", "[TOPIC]", "Show this help, or a guide, method, error or command."),
        (".methods", "[WORD]", "List the methods that contain a word."),
        (".describe", "NAME", "Show the parameters, result and errors of a method."),
        (".mode", "json|table|jsonl|auto", "Set the format of results."),
        (".open", "STORE", "Use another store."),
        (".set", "NAME VALUE", "Set a variable to text, JSON, or $_.member."),
        (".vars", "", "List the variables."),
        (".read", "FILE", "Run the lines of a file."),
        (".output", "[FILE]", "Append results to a file; without a file, print them again."),
        (".history", "", "Print the history."),
        (".quit", "", "End the shell."),
    ]

    private func command(_ line: String) throws -> Bool {
        let name = String(line.prefix { !$0.isWhitespace })
        let rest = String(line.dropFirst(name.count)).trimmed
        func value() throws -> String {
            if rest.isEmpty {
                let usage = Self.commands.first { $0.name == name }?.usage ?? ""
                throw ValidationError("\(name) needs a value: \(name) \(usage)")
            }
            return rest
        }
        switch name {
        case ".quit", ".exit": return false
        case ".help": try help(rest)
        case ".methods":
            let word = rest.lowercased()
            try Methods.list(Contract.MethodTable.all.filter { word.isEmpty || "\($0.name) \($0.summary)".lowercased().includes(word) })
        case ".describe": try Describe.parse([value()]).run()
        case ".mode":
            printer.format = rest == "auto" ? nil : try OutputFormat.named(value())
        case ".open": try open(value())
        case ".set": try set(value())
        case ".vars": for member in variables.members { try Printing.out("$\(member.name) = \(TextWidth.escaped(member.value.text))") }
        case ".read": try read(value())
        case ".output": try redirect(rest)
        case ".history": for line in history { try Printing.out(TextWidth.escaped(line)) }
        default:
            let hint = NearestNames.hint(
                name, among: Self.commands.map(\.name), otherwise: "To list all commands, type .help.")
            throw ValidationError("Unknown command \(name).\(hint)")
        }
        return true
    }

    private func help(_ topic: String) throws {
        guard topic.isEmpty else { return try showTopic(topic) }
        try Printing.out("METHOD name=text name:=json …   Call a method, as with mintmark call. $_ is the last result.")
        for command in Self.commands {
            try Printing.out("\(TextWidth.padded(Printing.bold(command.name) + " " + command.usage, to: 32))\(command.text)")
        }
    }

    private func open(_ store: String) throws {
        var other = settings
        (other.store, other.app) = (store, nil)
        let opened = try Mintmark(other, logsTo: LogRing())
        do { _ = try opened.services() } catch {
            opened.close()
            throw Printing.failure(error)
        }
        calls.close()
        mintmark.close()
        (settings, mintmark) = (other, opened)
        calls = try LocalCalls(opened)
    }

    private func set(_ rest: String) throws {
        let name = String(rest.prefix { !$0.isWhitespace })
        let text = String(rest.dropFirst(name.count)).trimmed
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }), !text.isEmpty else {
            throw ValidationError(".set needs a name of letters, digits and _ and a value: .set pool $_.poolId")
        }
        variables.set(name, text.hasPrefix("$") ? try variables.value(text) : (try? JSONValue(parsing: text)) ?? .string(text))
    }

    private func read(_ path: String) throws {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ValidationError(".read: '\(path)' cannot be read (\(String(cString: strerror(errno)))).") }
        defer { Glibc.close(file) }
        let input = LineInput(descriptor: file)
        var number = 0
        while var line = input.next() {
            number += 1
            let first = number
            while ShellWords.isIncomplete(line), let more = input.next() {
                line += "\n" + more
                number += 1
            }
            do { if try !run(line) { return } } catch {
                let code = report(error)
                Printing.err("  at \(path):\(first)")
                throw code
            }
        }
    }

    private func redirect(_ path: String) throws {
        if let output { Glibc.close(output) }
        output = nil
        printer.out = { try Printing.out($0) }
        printer.isForTerminal = isInteractive && isatty(1) == 1
        if path.isEmpty { return }
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ValidationError(".output: '\(path)' cannot be written (\(String(cString: strerror(errno)))).") }
        output = file
        printer.isForTerminal = false
        printer.out = { text in
            let bytes = Array((text + "\n").utf8)
            guard write(file, bytes, bytes.count) == bytes.count else {
                throw ValidationError(".output: '\(path)' cannot be written (\(String(cString: strerror(errno)))).")
            }
        }
    }
}

extension String {
    /// The text without spaces and line ends at both ends.
    fileprivate var trimmed: String {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}
