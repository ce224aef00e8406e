import Contract
import Storage

extension SystemService {
    /// Returns call counts, errors by type and latencies by method since the start.
    func metrics(_ request: SystemMetrics.Params, _ call: any CallContext) throws -> SystemMetrics.Result {
        let totals = mintmark.counters.totals
        let methods = totals.methods.sorted { $0.key < $1.key }.map { name, counts in
            MethodMetrics(
                method: name, calls: Int64(counts.calls), errors: Int64(counts.errors),
                totalMicroseconds: Int64(counts.totalNanoseconds / 1000),
                latency: counts.buckets.enumerated().filter { $0.element > 0 }.map {
                    LatencyBucket(upToMicroseconds: 1 << Int64($0.offset), count: Int64($0.element))
                })
        }
        let housekeeping = mintmark.opened?.housekeeping
        return SystemMetrics.Result(
            startedAt: mintmark.startedAt, calls: methods.reduce(0) { $0 + $1.calls }, inFlight: Int64(mintmark.requestsInFlight),
            errors: Members(totals.errors.sorted { $0.key < $1.key }.map { ($0.key, Int64($0.value)) }), methods: methods, poolWaits: 0,
            retries: 0, droppedLogs: Int64(mintmark.logRing?.dropped ?? 0), lastSweptAt: housekeeping?.lastSweptAt,
            sweptRows: housekeeping.map { Int64($0.sweptRows) })
    }
}
