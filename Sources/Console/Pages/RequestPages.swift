import JSON
import Loopback
import Platform

extension Page {
    private var hasSource: Bool { parts.hasRequests }

    private static let noSource: HTML = """
        This console runs in a process of its own and sees no requests. Start the service with <code>--trace-file FILE</code> and the \
        console with the same option, or run <code>mintmark serve --console</code>.
        """

    private static func row(_ request: LoggedRequest) -> HTML {
        let outcome =
            request.error.map { Display.badge($0, "bad") } ?? (request.isDone ? Display.badge("ok", "good") : Display.badge("running"))
        let trace: HTML = request.trace.map { "<code>\($0)</code>" } ?? "<span class=\"soft\">–</span>"
        let duration = request.seconds.map { Display.duration(microseconds: $0 * 1_000_000) } ?? "…"
        return """
            <tr data-request="\(request.number)"><td data-head="Time"><div>\(Display.time(Int64(request.at)))</div></td>\
            <td data-head="Method"><div><a class="method" href="/requests/\(request.number)">\(request.method)</a></div></td>\
            <td data-head="Duration" class="number"><div>\(duration)</div></td><td data-head="Outcome"><div>\(outcome)</div></td>\
            <td data-head="Trace"><div>\(trace)</div></td></tr>
            """
    }

    func requests() -> LoopbackResponse {
        let (method, error) = (query.given("method"), query.given("error"))
        let all = parts.log.all
        let found = all.filter { $0.matches(method: method, error: error) }
        let types = Set(all.compactMap(\.error)).sorted()
        let options = ([("", "all outcomes"), ("any", "any error")] + types.map { ($0, $0) }).map { value, name -> HTML in
            "<option value=\"\(value)\"\(value == error ? " selected" : HTML.none)>\(name)</option>"
        }.joined()
        let methods = Set(all.map(\.method)).sorted().map { "<option value=\"\($0)\">" as HTML }.joined()
        let form: HTML = """
            <form class="search"><input type="search" name="method" list="methods" value="\(method ?? "")" \
            placeholder="Method or namespace" aria-label="Method or namespace"><datalist id="methods">\(methods)</datalist>\
            <label class="inline">Outcome <select name="error">\(options)</select></label><button type="submit">Filter</button></form>
            """
        let heads = ["Time", "Method", "Duration", "Outcome", "Trace"].map { "<th scope=\"col\">\($0)</th>" as HTML }.joined()
        let words: HTML = hasSource ? "No request matches yet. New requests appear here." : Self.noSource
        let empty: HTML = "<div class=\"empty\" id=\"none\"\(found.isEmpty ? HTML.none : " hidden")><p>\(words)</p></div>"
        let events = PageRequest.url(
            ["requests", "events"], ["method", "error"].compactMap { name in query.given(name).map { (name, $0) } })
        return respond(
            "Requests", lead: "The latest requests, newest first. Secrets are masked.",
            """
            \(form)\(empty)<div class="table" tabindex="0"\(found.isEmpty ? " hidden" : HTML.none)><table><thead><tr>\(heads)</tr></thead>\
            <tbody data-events="\(events)">\(found.prefix(200).map { Self.row($0) }.joined("\n"))</tbody></table></div>
            """)
    }

    func request(_ text: String) -> LoopbackResponse {
        guard let number = Int(text), let request = parts.log[number] else { return notFound() }
        func pretty(_ text: String) -> String { (try? JSONValue(parsing: text)).map { Display.json($0) } ?? text }
        let facts: JSONObject = [
            "at": .number(JSONNumber(Int64(request.at))), "method": .string(request.method),
            "duration": .string(request.seconds.map { Display.duration(microseconds: $0 * 1_000_000) } ?? "still running"),
            "error": request.error.map { .string($0) } ?? .null, "trace": request.trace.map { .string($0) } ?? .null,
        ]
        return respond(
            "Request \(text)",
            """
            <section class="card">\(Display.facts(.object(facts)))</section><section><h2>Parameters</h2>\
            <pre>\(pretty(request.params))</pre>\
            </section><section><h2>\(request.error == nil ? "Result" : "Error")</h2><pre>\(pretty(request.answer))</pre></section>\
            <p class="pager"><a class="button" href="/requests">All requests</a></p>
            """)
    }

    /// Returns the event of a finished request: its row in one line.
    static func event(_ request: LoggedRequest) -> String {
        "id: \(request.number)\ndata: " + row(request).text.map { $0 == "\n" ? " " : String($0) }.joined() + "\n\n"
    }
}
