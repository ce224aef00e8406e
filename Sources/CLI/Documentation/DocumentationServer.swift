import Arguments
import Glibc
import JSONRPC
import Loopback
import Platform

/// Serves the website on this machine, from memory.
enum DocumentationServer {
    /// Runs until a signal ends the process.
    ///
    /// - Throws: `ValidationError` for a port that does not exist, `ExitCode` 74 if it cannot be used.
    static func run(_ site: Site, port given: Int, opensBrowser: Bool) throws {
        guard let port = UInt16(exactly: given) else { throw ValidationError("The port must be between 0 and 65535.") }
        let pages = Dictionary(uniqueKeysWithValues: site.files().map { ($0.path, Array($0.text.utf8)) })
        let end = ConditionLock(false)
        Signals.take {
            end.withLock { $0 = true }
            end.signal()
        }
        let server: LoopbackServer
        do throws(LoopbackFailure) { server = try LoopbackServer(port: port) { response(to: $0, pages) } } catch {
            Printing.err("\(Printing.errorWord) The website cannot be served on port \(error.port): \(error.reason). Choose another port.")
            throw ExitCode(74)
        }
        let url = server.baseURL + "/"
        try Printing.out(url)
        if opensBrowser, isatty(1) == 1, let reason = Browser.open(url) {
            Printing.err("No browser was opened: \(reason) Open the URL yourself.")
        }
        end.wait { $0 ? () : nil }
        server.stop(within: 1)
    }

    private static func response(to request: LoopbackRequest, _ pages: [String: [UInt8]]) -> LoopbackResponse {
        guard ["GET", "HEAD"].contains(request.method) else {
            return LoopbackResponse(status: 405, text: "Only GET and HEAD are possible.").adding([("allow", "GET, HEAD")])
        }
        var path = String(request.target.prefix { $0 != "?" }.drop { $0 == "/" })
        if path.isEmpty || path.hasSuffix("/") { path += "index.html" }
        guard let body = pages[path] else { return LoopbackResponse(status: 404, text: "The documentation has no page \(path).") }
        return LoopbackResponse(
            status: 200,
            headers: [
                ("content-type", type(of: path)),
                (
                    "content-security-policy",
                    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'"
                ),
                ("x-content-type-options", "nosniff"), ("cache-control", "no-cache"),
            ], body: body)
    }

    private static func type(of path: String) -> String {
        if path.hasSuffix(".html") { return "text/html; charset=utf-8" }
        if path.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if path.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        return path.hasSuffix(".json") ? "application/json" : "application/octet-stream"
    }
}
