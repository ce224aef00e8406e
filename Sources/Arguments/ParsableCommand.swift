/// Options and arguments as properties.
public protocol ParsableArguments: SendableMetatype {
    init()
    /// Checks the values after parsing.
    func validate() throws
    /// All properties with a wrapper, by name, in the order of their declaration; or `nil`, so that reflection finds them. Reflection takes
    /// 2 ms: the command that programs start lists its properties.
    var properties: [(name: String, property: CommandProperty)]? { get }
}

extension ParsableArguments {
    public var properties: [(name: String, property: CommandProperty)]? { nil }

    public func validate() throws {}
}

/// A command of a program.
public protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }
    mutating func run() throws
}

public struct CommandConfiguration: Sendable {
    public let commandName: String?
    public let abstract: String
    public let discussion: String
    public let version: String
    public let subcommands: [any ParsableCommand.Type]
    public let defaultSubcommand: (any ParsableCommand.Type)?
    /// Headings for the list of subcommands, by the name of the command that follows.
    public let headings: [String: String]

    public init(
        commandName: String? = nil, abstract: String = "", discussion: String = "", version: String = "",
        subcommands: [any ParsableCommand.Type] = [], defaultSubcommand: (any ParsableCommand.Type)? = nil,
        headings: [String: String] = [:]
    ) {
        self.commandName = commandName
        self.abstract = abstract
        self.discussion = discussion
        self.version = version
        self.subcommands = subcommands
        self.defaultSubcommand = defaultSubcommand
        self.headings = headings
    }
}

extension ParsableCommand {
    public static var _commandName: String { configuration.commandName ?? NameSpecification.hyphenatedType("\(Self.self)") }

    public mutating func run() throws { throw Request.help(Self.self) }

    /// Parses the arguments after the name of the program, and returns the command.
    ///
    /// - Throws: `ParseFailure`, `Request`, or an error of `validate`.
    public static func parseAsRoot(_ arguments: [String]) throws -> any ParsableCommand {
        var type: any ParsableCommand.Type = self
        var rest = arguments[...]
        while !type.configuration.subcommands.isEmpty {
            if let word = rest.first, !word.hasPrefix("-"),
                let next = type.configuration.subcommands.first(where: { $0._commandName == word })
            {
                type = next
                rest.removeFirst()
            } else if let word = rest.first, ["--help", "-h"].contains(word) {
                throw Request.help(type)
            } else if let word = rest.first, ["--version", "-v", "-V"].contains(word), !type.configuration.version.isEmpty {
                throw Request.version
            } else if let standard = type.configuration.defaultSubcommand {
                type = standard
            } else {
                throw unknownCommand(rest.first, of: type)
            }
        }
        return try type.parsed(rest)
    }

    private static func unknownCommand(_ word: String?, of type: any ParsableCommand.Type) -> ParseFailure {
        let names = type.configuration.subcommands.map { $0._commandName }
        let list = names.count == 1 ? "The only command is \(names[0])." : "The commands are \(names.joined(separator: ", "))."
        guard let word else { return ParseFailure("A command is missing. \(list)", type) }
        let hint = ArgumentParser.nearest(word, among: names).map { "Did you mean \($0)?" } ?? list
        return ParseFailure("Unknown command '\(word)'. \(hint)", type)
    }

    /// Parses the arguments of this command.
    public static func parse(_ arguments: [String]) throws -> Self { try parsed(arguments[...]) }

    static func parsed(_ arguments: ArraySlice<String>) throws -> Self {
        let command = Self()
        let declared = Declarations(of: command)
        var parser = ArgumentParser(declared, of: Self.self)
        try parser.parse(arguments)
        do {
            for group in declared.groups { try group.validate() }
            try command.validate()
        } catch let refusal as ValidationError { throw ParseFailure(refusal.message, Self.self) }
        return command
    }
}

extension NameSpecification {
    /// Returns the name of a command from the name of its type: `kube-credential` for `KubeCredential`.
    static func hyphenatedType(_ name: String) -> String {
        let parts = hyphenated(name)
        return String(parts.drop { $0 == "-" })
    }
}
