import ArgumentParser
import Contract
import Glibc
import JSON
import JSONRPC
import Mintmark

/// `mintmark call`
struct CallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Call one method and print its result.",
        discussion: """
            Prints the result as JSON on standard output, indented on a terminal. An error goes to standard error, and the exit code is 1;
            with 2 the store cannot be used. Params of "-" are read from standard input, which keeps secrets out of the process list.
            """)

    @OptionGroup var options: StoreOptions

    @OptionGroup var output: ColorOption

    @Argument(help: "The method, such as token.mintForDeveloper.", completion: .list(Contract.MethodTable.all.map(\.name)))
    var method: String

    @Argument(help: "The parameters as a JSON object, or - for standard input.")
    var params: String = "{}"

    func run() throws {
        let text = params == "-" ? Self.readAll(0) ?? [] : Array(params.utf8)
        let given: JSONValue
        do { given = try JSONValue(parsing: text) } catch { throw ValidationError("The parameters are not valid JSON: \(error).") }
        let mintmark = try Mintmark(options.settings, logsTo: LogRing())
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": given]
        let answer = mintmark.responder.answer(request.bytes)
        mintmark.close()
        guard let answer, let message = try? JSONValue(parsing: answer) else { throw ExitCode(1) }
        if let result = message["result"] {
            try Printing.out(isatty(1) == 1 ? Printing.pretty(result) : result.text)
            return
        }
        let error = message["error"] ?? [:]
        let violations = error["data"]?["violations"]?.array ?? []
        throw Printing.failure(
            type: error["data"]?["type"]?.string ?? "", message: error["message"]?.string ?? "",
            violations: violations.map { ($0["pointer"]?.string ?? "", $0["message"]?.string ?? "") })
    }

    /// Reads a descriptor until its end. Returns `nil` if it cannot be read.
    static func readAll(_ descriptor: Int32) -> [UInt8]? {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return count == 0 ? all : nil }
            all += buffer[..<count]
        }
    }
}
