import JSON
import Loopback
import Platform

extension Page {
    func metrics() -> LoopbackResponse {
        let measured = parts.log.measurements
        guard let last = measured.buckets.last?.number else {
            let words: HTML =
                parts.hasRequests
                ? "No request was measured yet. <a href=\"/requests\">Requests</a> appear here as plots."
                : "This console sees no requests. <a href=\"/requests\">Requests</a> explains how it does."
            return respond("Metrics", "<div class=\"empty\" data-live=\"/metrics\" data-every=\"5\"><p>\(words)</p></div>")
        }
        let first = max(measured.buckets.first?.number ?? last, last - Measurements.mostBuckets + 1)
        let span = max(12, last - first + 1)
        let start = last - span + 1
        let plot = { (title: String, series: [Plot.Series], unit: @escaping (Double) -> String) in
            Plot(
                title: title, series: series, slots: span, begin: start * Measurements.bucketSeconds,
                step: Measurements.bucketSeconds, unit: unit
            ).picture
        }
        func values(_ value: (Measurements.Bucket) -> Double) -> [(slot: Int, value: Double)] {
            measured.buckets.filter { $0.number >= start }.map { ($0.number - start, value($0.bucket)) }
        }
        let whole: (Double) -> String = { Display.count(Int64($0.rounded())) }
        let rows = measured.methods.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map { name, bucket -> JSONValue in
            [
                "method": .string(name), "calls": .number(JSONNumber(Int64(bucket.count))),
                "errors": .number(JSONNumber(Int64(bucket.errors))),
                "p50": .string(Display.duration(microseconds: bucket.percentile(0.5))),
                "p95": .string(Display.duration(microseconds: bucket.percentile(0.95))),
                "p99": .string(Display.duration(microseconds: bucket.percentile(0.99))),
            ]
        }
        let table = Display.table(
            rows, empty: "No calls.",
            [
                Display.column("Method", "method"), Display.column("Calls", "calls"), Display.column("Errors", "errors"),
                Display.column("p50", "p50"), Display.column("p95", "p95"), Display.column("p99", "p99"),
            ])
        let requests = plot("Requests per 10 seconds", [.init(name: "requests", style: "bars", values: values { Double($0.count) })], whole)
        let latency = plot(
            "Latency percentiles",
            [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)].map { name, part in
                .init(name: name, style: name, values: values { $0.percentile(part) })
            }, { Display.duration(microseconds: $0) })
        let errors = plot(
            "Errors per 10 seconds", [.init(name: "errors", style: "bars errors", values: values { Double($0.errors) })], whole)
        return respond(
            "Metrics", lead: "Requests since the console sees them, at most one hour. Durations are upper bounds of their class.",
            """
            <div data-live="/metrics" data-every="5"><section class="card">\(requests)</section><section class="card">\(latency)</section>\
            <section class="card">\(errors)</section><section><h2>Methods</h2>\(table)</section></div>
            """)
    }
}

/// A diagram of values over time.
struct Plot {
    struct Series {
        let name: String
        /// The CSS class; one that begins with `bars` draws bars.
        let style: String
        let values: [(slot: Int, value: Double)]
    }

    private static let width = 760
    private static let height = 170
    private static let left = 64
    private static let bottom = 24
    private static let top = 10

    let title: String
    let series: [Series]
    /// The number of steps on the time axis.
    let slots: Int
    /// The time of the first step, in seconds since 1970.
    let begin: Int
    let step: Int
    let unit: (Double) -> String

    private var most: Double { Self.round(series.flatMap(\.values).map(\.value).max() ?? 0) }

    /// Returns the next number whose half is easy to read.
    private static func round(_ value: Double) -> Double {
        var size = 1.0
        while size * 10 <= value { size *= 10 }
        return [1, 2, 4, 5, 10].map { $0 * size }.first { $0 >= value } ?? value
    }

    private func x(_ slot: Double) -> Int { Self.left + Int(slot / Double(slots) * Double(Self.width - Self.left - 8)) }
    private func y(_ value: Double) -> Int {
        let room = Double(Self.height - Self.bottom - Self.top)
        return Self.height - Self.bottom - Int((most > 0 ? value / most : 0) * room)
    }

    var picture: HTML {
        let lines = [0, most / 2, most].map { value -> HTML in
            """
            <line class="grid" x1="\(Self.left)" x2="\(Self.width - 8)" y1="\(y(value))" y2="\(y(value))"/>\
            <text class="axis" x="\(Self.left - 8)" y="\(y(value) + 4)" text-anchor="end">\(unit(value))</text>
            """
        }.joined()
        let times = [0, slots / 2, slots].map { slot -> HTML in
            let text = String(Display.date(Int64(begin + slot * step)).suffix(8))
            let anchor: HTML = slot == 0 ? "start" : slot == slots ? "end" : "middle"
            return "<text class=\"axis\" x=\"\(x(Double(slot)))\" y=\"\(Self.height - 6)\" text-anchor=\"\(anchor)\">\(text)</text>"
        }.joined()
        let legend: HTML =
            series.count < 2
            ? .none : "<p class=\"legend\">\(series.map { "<span class=\"\($0.style)\">\($0.name)</span>" as HTML }.joined(" "))</p>"
        return """
            <h2>\(title)</h2>\(legend)<div class="picture" tabindex="0"><svg class="plot" data-plot="\(series[0].name)" role="img" \
            viewBox="0 0 \(Self.width) \(Self.height)" aria-label="\(title)"><title>\(title)</title>\(lines)\(times)\
            \(series.map { draw($0) }.joined())</svg></div>
            """
    }

    private func draw(_ series: Series) -> HTML {
        if series.style.hasPrefix("bars") {
            let bars = series.values.map { slot, value -> HTML in
                let width = max(2, x(Double(slot + 1)) - x(Double(slot)) - 1)
                return """
                    <rect x="\(x(Double(slot)))" y="\(y(value))" width="\(width)" height="\(y(0) - y(value))"><title>\
                    \(Display.date(Int64(begin + slot * step))): \(unit(value))</title></rect>
                    """
            }.joined()
            return "<g class=\"\(series.style)\">\(bars)</g>"
        }
        let points = series.values.map { "\(x(Double($0.slot) + 0.5)),\(y($0.value))" }.joined(separator: " ")
        let dots = series.values.map { slot, value -> HTML in
            """
            <circle cx="\(x(Double(slot) + 0.5))" cy="\(y(value))" r="2.5"><title>\(series.name), \
            \(Display.date(Int64(begin + slot * step))): \(unit(value))</title></circle>
            """
        }.joined()
        return "<g class=\"line \(series.style)\"><polyline points=\"\(points)\"/>\(dots)</g>"
    }
}
