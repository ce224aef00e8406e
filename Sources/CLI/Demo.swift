import ArgumentParser
import Glibc
import JSON
import JSONRPC
import Mintmark

/// `mintmark demo`
struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A tour: somebody signs up with a mailed code, gets a token, exchanges it for credentials, signs with them.",
        discussion: "Runs against a testing store in a temporary folder that is removed afterwards; no mail is sent.")

    func run() throws {
        var template = Array("/tmp/mintmark-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ValidationError("No temporary folder could be made in /tmp.") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let store = folder + "/demo.db"
        let mintmark = Mintmark(Configuration(store: .file(store), testing: true), logRing: LogRing())
        defer {
            mintmark.close()
            for file in ["", "-wal", "-shm", ".key"] { unlink(store + file) }
            rmdir(folder)
        }
        try Tour(mintmark).run()
    }
}
