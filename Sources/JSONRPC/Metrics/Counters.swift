import Platform

/// Counts calls. Each thread has its own counters; reading adds them up.
public final class Counters: CallObserver {
    /// The counts of one method.
    public struct MethodCounts: Sendable {
        public var calls = 0
        public var errors = 0
        public var totalNanoseconds: UInt64 = 0
        /// Calls by duration: bucket `n` counts calls that took less than 2ⁿ and at least 2ⁿ⁻¹ microseconds.
        public var buckets = [Int](repeating: 0, count: 36)
    }

    private struct Shard {
        var methods: [(method: Method, counts: MethodCounts)] = []
        /// The index of the method counted last. The next call most often has the same method.
        private var last = 0
        var errors: [String: Int] = [:]

        mutating func count(_ report: CallReport, of method: Method, _ bucket: Int) {
            if !(last < methods.count && methods[last].method === method) {
                last = methods.firstIndex { $0.method === method } ?? methods.count
                if last == methods.count { methods.append((method, MethodCounts())) }
            }
            methods[last].counts.count(report, bucket)
        }
    }

    /// Padding keeps the counters of different threads on different cache lines.
    private final class Counted: Sendable {
        private let before = InlineArray<16, UInt64>(repeating: 0)
        let shard = UnfairLock(Shard())
        private let behind = InlineArray<16, UInt64>(repeating: 0)
    }

    private let shards = (0..<16).map { _ in Counted() }
    private let onFailure: @Sendable (_ method: String, _ trace: String?, _ incident: String, any Error) -> Void

    private let onEnd: (@Sendable (Call, CallReport) -> Void)?

    /// - Parameters:
    ///   - onEnd: Called after every call, or `nil`.
    ///   - onFailure: Called for every internal error, for the log.
    public init(
        onEnd: (@Sendable (Call, CallReport) -> Void)? = nil,
        onFailure: @escaping @Sendable (_ method: String, _ trace: String?, _ incident: String, any Error) -> Void = { _, _, _, _ in }
    ) {
        self.onEnd = onEnd
        self.onFailure = onFailure
    }

    /// Resets all counters and releases the methods.
    public func clear() {
        for counted in shards { counted.shard.withLock { $0 = Shard() } }
    }

    public func ended(_ call: Call, _ report: CallReport) {
        let microseconds = report.durationNanoseconds / 1000
        let bucket = min(35, UInt64.bitWidth - microseconds.leadingZeroBitCount)
        shards[report.worker & 15].shard.withLock { shard in
            shard.count(report, of: call.calledMethod, bucket)
            if let error = report.errorType { shard.errors[error, default: 0] += 1 }
        }
        onEnd?(call, report)
    }

    public func failed(_ call: Call, with error: any Error, incident: String) {
        onFailure(call.method, call.trace, incident, error)
    }

    public func refused(_ errorType: String) { shards[0].shard.withLock { $0.errors[errorType, default: 0] += 1 } }

    /// The sums of all counters.
    public var totals: (methods: [String: MethodCounts], errors: [String: Int]) {
        var methods: [String: MethodCounts] = [:]
        var errors: [String: Int] = [:]
        for counted in shards {
            let shard = counted.shard.withLock { $0 }
            methods.merge(shard.methods.map { ($0.method.name, $0.counts) }) { $0 + $1 }
            errors.merge(shard.errors, uniquingKeysWith: +)
        }
        return (methods, errors)
    }
}

extension Counters.MethodCounts {
    fileprivate mutating func count(_ report: CallReport, _ bucket: Int) {
        calls += 1
        if report.errorType != nil { errors += 1 }
        totalNanoseconds += report.durationNanoseconds
        buckets[bucket] += 1
    }

    fileprivate static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.calls += b.calls
        sum.errors += b.errors
        sum.totalNanoseconds += b.totalNanoseconds
        for index in b.buckets.indices { sum.buckets[index] += b.buckets[index] }
        return sum
    }
}
