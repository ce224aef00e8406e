import Arguments
import Glibc
import JSON
import JSONRPC
import Mintmark

/// `mintmark demo`
struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a demo: sign up with a code, get a token, exchange it for credentials, sign a request.",
        discussion: "Uses a testing store in a temporary directory, which is removed afterwards. No email is sent.")

    @OptionGroup var output: ColorOption

    func run() throws {
        var template = Array("/tmp/mintmark-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ValidationError("A temporary directory could not be created in /tmp.") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let store = folder + "/demo.db"
        let mintmark = Mintmark(Configuration(store: .file(store), testing: true), logRing: LogRing())
        defer {
            mintmark.close()
            for file in ["", "-wal", "-shm", ".key"] { unlink(store + file) }
            rmdir(folder)
        }
        try DemoScript(mintmark).run()
    }
}
