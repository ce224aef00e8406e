import JSON
import Platform

/// A request of a trace with its response.
struct LoggedRequest: Sendable {
    let number: Int
    /// The time of the request, in seconds since 1970.
    let at: Double
    let method: String
    let trace: String?
    /// The parameters as JSON, without secrets.
    let params: String
    var seconds: Double?
    /// The type of the error, or `nil`.
    var error: String?
    /// The result or error as JSON, without secrets.
    var answer = ""

    var isDone: Bool { seconds != nil }

    /// Returns whether the request matches the filters of the page.
    func matches(method: String?, error: String?) -> Bool {
        (method.map { self.method == $0 || self.method.hasPrefix($0 + ".") } ?? true)
            && (error.map { $0 == "any" ? self.error != nil : self.error == $0 } ?? true)
    }
}

/// The most recent requests of a trace, in bounded memory, and their measurements.
final class RequestLog: Sendable {
    private static let mostRequests = 1_000
    private static let mostText = 8 * 1024
    private static let mostTotal = 4 << 20

    private struct State {
        var requests: [LoggedRequest] = []
        var bytes = 0
        var next = 1
        /// The numbers of the unanswered requests, by process and ID.
        var open: [String: Int] = [:]
        /// Increases with every change.
        var version = 0
        var measurements = Measurements()

        mutating func begin(_ message: JSONValue, of process: String, at: Double) {
            guard let method = message["method"]?.string, let id = message["id"] else { return }
            let request = LoggedRequest(
                number: next, at: at, method: method, trace: message["trace"]?.string, params: RequestLog.cut(message["params"]))
            open["\(process) \(id.text)"] = next
            next += 1
            bytes += request.params.utf8.count
            requests.append(request)
            if open.count > 4 * RequestLog.mostRequests { open = [:] }
            while requests.count > RequestLog.mostRequests || bytes > RequestLog.mostTotal { removeFirst() }
        }

        private mutating func removeFirst() {
            let first = requests.removeFirst()
            bytes -= first.params.utf8.count + first.answer.utf8.count
        }

        mutating func end(_ message: JSONValue, of process: String, at: Double) {
            guard let id = message["id"], let number = open.removeValue(forKey: "\(process) \(id.text)"),
                let first = requests.first?.number, requests.indices.contains(number - first)
            else { return }
            let index = number - first
            requests[index].seconds = max(0, at - requests[index].at)
            requests[index].error = message["error"].map { $0["data"]?["type"]?.string ?? "error" }
            requests[index].answer = RequestLog.cut(message["result"] ?? message["error"])
            bytes += requests[index].answer.utf8.count
            measurements.add(requests[index])
        }
    }

    private let state = ConditionLock(State())

    /// Adds a record of a trace: one line of JSON.
    func take(_ line: [UInt8]) {
        guard let record = try? JSONValue(parsing: line), let at = record["at"]?.number?.double, let message = record["message"] else {
            return
        }
        let process = record["process"]?.number?.text ?? ""
        let isIncoming = record["direction"]?.string == "in"
        state.withLock { state in
            for message in message.array ?? [message] {
                if isIncoming { state.begin(message, of: process, at: at) } else { state.end(message, of: process, at: at) }
            }
            state.version += 1
        }
        state.broadcast()
    }

    private static func cut(_ value: JSONValue?) -> String {
        let text = value?.text ?? ""
        return text.utf8.count <= mostText ? text : String(text.prefix(mostText)) + "…"
    }

    /// The requests, newest first.
    var all: [LoggedRequest] { state.withLock { $0.requests.reversed() } }
    var measurements: Measurements { state.withLock { $0.measurements } }
    var version: Int { state.withLock { $0.version } }

    subscript(_ number: Int) -> LoggedRequest? {
        state.withLock { state in
            let index = number - (state.requests.first?.number ?? 0)
            return state.requests.indices.contains(index) ? state.requests[index] : nil
        }
    }

    /// Waits for a change after `version`, at most half a second. Returns the new version.
    func wait(after version: Int) -> Int {
        _ = state.wait(deadline: Monotonic.nanoseconds() + 500_000_000) { $0.version > version ? () : nil }
        return self.version
    }

    func wake() { state.broadcast() }
}

/// Counts, errors and durations of requests over time and by method.
struct Measurements: Sendable {
    static let bucketSeconds = 10
    static let mostBuckets = 360

    struct Bucket: Sendable {
        var count = 0
        var errors = 0
        /// The requests by duration: two steps for each doubling of a microsecond.
        var durations = [UInt32](repeating: 0, count: 56)

        mutating func add(_ request: LoggedRequest) {
            count += 1
            if request.error != nil { errors += 1 }
            durations[Self.step((request.seconds ?? 0) * 1_000_000)] += 1
        }

        private static func step(_ microseconds: Double) -> Int {
            guard microseconds >= 1 else { return 0 }
            let whole = UInt64(microseconds)
            let power = 63 - whole.leadingZeroBitCount
            return min(55, power * 2 + (Double(whole) >= Double(1 << power) * 1.414 ? 1 : 0))
        }

        /// Returns an upper bound of the duration of this part of the requests, in microseconds.
        func percentile(_ part: Double) -> Double {
            let total = durations.reduce(0) { $0 + Int($1) }
            guard total > 0 else { return 0 }
            var seen = 0
            for (step, number) in durations.enumerated() {
                seen += Int(number)
                if Double(seen) >= part * Double(total) {
                    let next = step + 1
                    return Double(1 << (next / 2)) * (next % 2 == 1 ? 1.414 : 1)
                }
            }
            return 0
        }
    }

    /// The buckets by their number since 1970.
    private(set) var buckets: [(number: Int, bucket: Bucket)] = []
    private(set) var methods: [String: Bucket] = [:]

    mutating func add(_ request: LoggedRequest) {
        let number = Int(request.at) / Self.bucketSeconds
        let place = buckets.lastIndex { $0.number <= number }
        if let place, buckets[place].number == number {
            buckets[place].bucket.add(request)
        } else {
            var bucket = Bucket()
            bucket.add(request)
            buckets.insert((number, bucket), at: place.map { $0 + 1 } ?? 0)
            if buckets.count > Self.mostBuckets { buckets.removeFirst() }
        }
        if methods.count < 500 || methods[request.method] != nil { methods[request.method, default: Bucket()].add(request) }
    }
}
