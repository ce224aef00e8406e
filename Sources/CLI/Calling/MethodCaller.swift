import Arguments
import Contract
import Glibc
import JSON
import Mintmark

/// Calls methods, follows pages and reports errors, for `mintmark call` and `mintmark shell`.
struct MethodCaller {
    /// Sends a request and returns the response.
    let send: (_ method: String, _ params: JSONValue) -> JSONValue

    /// Returns a caller that shows the progress of methods that report it.
    init(_ calls: LocalCalls, style: ProgressBar.Style) {
        send = { method, params in
            guard MethodSchema(of: method)?.reportsProgress ?? false else { return calls.call(method, params) }
            let bar = ProgressBar(method, unit: method == "audit.verify" ? "chains" : "accounts", style: style)
            defer { bar.finish() }
            return calls.call(method, params) { value in
                // Each counter of an import has other accounts.
                let counters = ["imported", "replaced", "skipped", "failed", "exported", "verifiedChains"]
                bar.update(counters.compactMap { value[$0]?.int }.reduce(0, +), of: value["chains"]?.int)
            }
        }
    }

    init(_ mintmark: Mintmark) {
        send = { method, params in
            let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
            return mintmark.responder.answer(request.bytes).flatMap { try? JSONValue(parsing: $0) } ?? [:]
        }
    }

    /// The error in a response.
    struct Failure: Error {
        let error: JSONValue

        var type: String { error["data"]?["type"]?.string ?? "" }
        /// The method to call next.
        var next: String? { error["data"]?["next"]?.string }

        /// Prints the error to standard error.
        ///
        /// - Returns: The error with which to exit.
        func printed() -> any Error {
            let violations = error["data"]?["violations"]?.array ?? []
            return Printing.failure(
                type: type, message: error["message"]?.string ?? "No response.",
                violations: violations.map { ($0["pointer"]?.string ?? "", $0["message"]?.string ?? "") })
        }
    }

    /// - Throws: `Failure`.
    func result(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let answer = send(method, params)
        guard let result = answer["result"] else { throw Failure(error: answer["error"] ?? [:]) }
        return result
    }

    /// Calls a method until there is no next page.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entries of all pages.
    ///   - take: Receives each page, and whether it is the last one.
    /// - Throws: `Failure`; `ValidationError` for a method without pages.
    func pages(_ method: String, _ params: JSONValue, limit: Int?, take: (JSONValue, _ isLast: Bool) throws -> Void) throws {
        if let schema = MethodSchema(of: method), !schema.parameters.contains(where: { $0.name == "cursor" }) {
            throw ValidationError("\(method) has no pages, so --all and --limit-total have no effect. Leave them out.")
        }
        var params = params.object ?? [:]
        var left = limit ?? .max
        while true {
            var page = try result(method, .object(params)).object ?? [:]
            let cursor = page["nextCursor"]
            page["nextCursor"] = nil
            if let list = ResultPrinter.list(in: .object(page)) {
                if list.elements.count > left { page[list.name] = .array(Array(list.elements.prefix(left))) }
                left -= min(left, list.elements.count)
            }
            let isLast = cursor == nil || left == 0
            try take(.object(page), isLast)
            if isLast { return }
            params["cursor"] = cursor
        }
    }
}
