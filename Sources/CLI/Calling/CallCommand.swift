import Arguments
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
            Parameters: name=text, name:=json, name[key]=text, name[]=text, name=@file, name=@- for standard input, name=@@text for text
            that begins with @. Alternatively, one JSON object, or - for a JSON object on standard input.

              mintmark call pool.create name=shop developerProvider=login.shop
              mintmark call token.mintForDeveloper poolId=local-1:… logins[login.shop]=alice
              mintmark call account.list --all --output jsonl
              mintmark call tenant.get tenantId=shop --field issuer

            On a terminal, lists are printed as a table and other results as indented JSON; elsewhere the result is one line of JSON.
            An error goes to standard error, and the exit code is 1; with 2 the store cannot be used.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var color: ColorOption

    @OptionGroup var result: ResultOptions

    @Flag(help: "Print the request as one line of JSON-RPC instead of sending it.")
    var printRequest = false

    @Argument(help: "The method, such as token.mintForDeveloper.", completion: .list(Contract.MethodTable.all.map(\.name)))
    var method: String

    @Argument(help: "The parameters as name=text or name:=json, as one JSON object, or - for a JSON object on standard input.")
    var items: [String] = []

    func run() throws {
        var notation = CallItems(for: method)
        let printer = try result.printer()
        let style = try result.progress.style()
        let params = try notation.parameters(items)
        if isatty(2) == 1 {
            for label in notation.visibleSecrets(items) {
                Printing.err("\(label) is visible in the process list; use \(label)=@FILE or \(label)=@-")
            }
        }
        if printRequest {
            return try Printing.out(
                (["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params] as JSONValue).text)
        }
        var settings = options.settings
        settings.isBrief = true
        let mintmark = try Mintmark(settings, logsTo: LogRing())
        let calls = try MethodSchema(of: method)?.reportsProgress ?? false ? LocalCalls(mintmark) : nil
        let caller = calls.map { MethodCaller($0, style: style) } ?? MethodCaller(mintmark)
        defer {
            calls?.close()
            mintmark.close()
        }
        do {
            guard result.all || result.limitTotal != nil else { return try printer.print(caller.result(method, params), of: method) }
            try result.printPages(of: method, params, caller, printer)
        } catch let failure as MethodCaller.Failure {
            if failure.error["code"] == -32800 { throw ExitCode(130) }
            throw failure.printed()
        }
    }
}

/// The options of commands that print results.
struct ResultOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("The format of the result: json, jsonl for one line per entry, or table.", valueName: "format"),
        completion: .list(OutputFormat.allCases.map(\.rawValue)))
    var output: String?

    @Option(help: ArgumentHelp("Print only this member of the result, such as accounts[0].email or /accounts/0/email.", valueName: "path"))
    var field: String?

    @Flag(help: "Follow all pages of a list.")
    var all = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Follow the pages of a list, and stop after this number of entries.", valueName: "number"))
    var limitTotal: Int?

    @Flag(help: "Print the cells of tables in full.")
    var wide = false

    @OptionGroup var progress: ProgressOption

    /// - Throws: `ValidationError`.
    func printer() throws -> ResultPrinter {
        if let limitTotal, limitTotal < 1 { throw ValidationError("--limit-total must be at least 1.") }
        if all || limitTotal != nil, field != nil { throw ValidationError("--field prints a member of one result, so it excludes --all.") }
        return ResultPrinter(format: try OutputFormat.named(output), field: field, isWide: wide)
    }

    /// Prints all pages. Lines are printed page by page, so that memory stays constant; other formats are printed at the end.
    func printPages(of method: String, _ params: JSONValue, _ caller: MethodCaller, _ printer: ResultPrinter) throws {
        if printer.format == .jsonl {
            return try caller.pages(method, params, limit: limitTotal) { page, _ in try printer.print(page, of: method) }
        }
        var whole: JSONObject?
        var elements: [JSONValue] = []
        try caller.pages(method, params, limit: limitTotal) { page, isLast in
            let list = ResultPrinter.list(in: page)
            elements += list?.elements ?? []
            if whole == nil { whole = page.object }
            if isLast, let list, var joined = whole {
                joined[list.name] = .array(elements)
                try printer.print(.object(joined), of: method)
            }
        }
    }
}
