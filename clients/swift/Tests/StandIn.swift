import Foundation
import MintmarkClient

/// A program that simulates Mintmark: it handles each request with a shell command, which reads `$line` and `$id`.
struct StandIn {
    private let folder: URL

    /// - Parameters:
    ///   - version: the version that it reports.
    ///   - says: the command that responds to system.info, instead of `version`.
    init(version: String = "999.0.0", says: String? = nil, _ command: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "mintmark-swift-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let says = says ?? #"echo '{"jsonrpc":"2.0","id":0,"result":{"version":"\#(version)"}}'"#
        let text = #"""
            #!/bin/bash
            while IFS= read -r line; do
            id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
            if [ "$id" = 0 ]; then \#(says); continue; fi
            \#(command)
            done

            """#
        // Written by another process: a concurrently started child can inherit a descriptor open for writing, and the kernel does not
        // execute such a file.
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", #"printf %s "$1" >"$2" && chmod 700 "$2""#, "sh", text, folder.appending(path: "program").path]
        try writer.run()
        writer.waitUntilExit()
    }

    func start(log: Mintmark.LogTarget = .discarded) async throws -> Mintmark {
        try await Mintmark.start(store: ":memory:", binary: folder.appending(path: "program").path, log: log)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
