import Arguments
import Glibc

/// `mintmark docs`
struct Docs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write or serve the documentation as a website, or write it as a manual page.",
        discussion: """
            The website has the guides, a page for each method, the errors, the commands, the glossary and a search. It works without a \
            web server, and loads nothing from elsewhere. With --serve, it is shown in the browser; Ctrl-C ends the command.

              mintmark docs --serve
              mintmark docs --out site
            """)

    @Option(
        help: ArgumentHelp(
            "The directory for the website. It must be empty, or contain a website that this command has written.", valueName: "directory"),
        completion: .directory)
    var out: String?

    @Option(
        defaultAsFlag: 0,
        help: ArgumentHelp("Serve the website on 127.0.0.1 instead, at this port. (default: any free port)", valueName: "port"))
    var serve: Int?

    @Flag(help: "Do not open a browser.")
    var noBrowser = false

    @Flag(help: "Write the manual page mintmark.1 instead of the website: into the directory of --out, or to standard output.")
    var man = false

    @OptionGroup var output: ColorOption

    func validate() throws {
        if serve != nil, out != nil || man { throw ValidationError("--serve excludes --out and --man.") }
        if noBrowser, serve == nil { throw ValidationError("--no-browser belongs to --serve.") }
    }

    func run() throws {
        let table = CommandTable(of: MintmarkCommand.self)
        if let serve { return try DocumentationServer.run(Site(commands: table), port: serve, opensBrowser: !noBrowser) }
        guard let out else {
            guard man else {
                throw ValidationError("Name a directory with --out, show the website with --serve, or print the manual page with --man.")
            }
            return try Printing.out(String(ManPage.text(table).dropLast()))
        }
        guard !out.isEmpty else { throw ValidationError("--out must name a directory.") }
        let folder = DocumentationFolder(path: out)
        if man { return try folder.write(manPages: [("mintmark.1", ManPage.text(table))]) }
        try folder.checkIsFree()
        let files = Site(commands: table).files()
        try folder.write(site: files)
        try Printing.out("\(Printing.count(Int64(files.count), "file")) written to \(out). Open \(out)/index.html")
    }
}
