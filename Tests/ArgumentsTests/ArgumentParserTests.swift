import Arguments
import Testing

private struct Shared: ParsableArguments {
    @Option(help: "The store.") var store: String?
    @Flag(help: "A test.") var testing = false
}

private struct Example: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "An example.")
    @OptionGroup(title: "Store") var shared: Shared
    @Option(parsing: .unconditional) var count: Int?
    @Option(name: [.customShort("o"), .long]) var output: String?
    @Option var tag: [String] = []
    @Argument() var method: String
    @Argument var items: [String] = []
}

private struct Run: ParsableCommand {
    static let configuration = CommandConfiguration()
    @Flag var keep = false
    @Argument(parsing: .captureForPassthrough) var command: [String]
}

@Suite("Command lines")
struct ArgumentParserTests {
    @Test("options in any order and notation set their properties")
    func options() throws {
        let example = try Example.parse([
            "--store", "a", "call", "--count=-3", "x=1", "-ojson", "--testing", "--tag", "a", "--tag=b", "--", "-y",
        ])
        #expect(example.shared.store == "a")
        #expect(example.shared.testing)
        #expect(example.count == -3)
        #expect(example.output == "json")
        #expect(example.tag == ["a", "b"])
        #expect(example.method == "call")
        #expect(example.items == ["x=1", "-y"])
    }

    @Test(
        "a wrong command line is reported in one sentence",
        arguments: [
            (["call", "--stroe", "a"], "Unknown option '--stroe'. Did you mean '--store'?"),
            (["call", "--xyzzy"], "Unknown option '--xyzzy'."),
            (["call", "--store"], "Missing value for '--store <store>'."),
            (["call", "--store", "--testing"], "Missing value for '--store <store>'."),
            (["call", "--count", "x"], "The value 'x' is invalid for '--count <count>'."),
            (["call", "--testing=yes"], "The option '--testing' takes no value."),
            ([], "<method> is missing."),
        ])
    func failures(arguments: [String], message: String) {
        #expect { try Example.parse(arguments) } throws: { ($0 as? ParseFailure)?.message == message }
    }

    @Test("everything after the first argument passes through")
    func passthrough() throws {
        let run = try Run.parse(["--keep", "--", "sh", "-c", "--", "exit"])
        #expect(run.keep)
        #expect(run.command == ["sh", "-c", "--", "exit"])
    }

    @Test("help leaves out the options of a group with a title")
    func help() {
        let text = Example.helpMessage(program: "x", width: 80) { "\($0)" }
        #expect(text.contains("USAGE: x example [<options>] <method> [<items> ...]"))
        #expect(text.contains("  -o, --output <output>"))
        #expect(!text.contains("--store"))
        #expect(text.contains("[\"Store\"]"))
    }
}
