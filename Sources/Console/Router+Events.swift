import JSON
import Loopback
import Platform

extension Router {
    /// Sends the finished requests as server-sent events, until the browser or the console ends.
    func events(_ stream: LoopbackStream, _ request: PageRequest) {
        let (method, error) = (request.query.given("method"), request.query.given("error"))
        let head = LoopbackResponse(
            status: 200, headers: [("content-type", "text/event-stream")] + ResponseHeaders.of(ResponseHeaders.pagePolicy))
        guard stream.begin(head), stream.write(Array(": begins\n\n".utf8)) else { return }
        // A browser that connects again names the last request that it has.
        let last = request.headers.header("last-event-id").flatMap { Int($0) }
        var sent = Set(parts.log.all.filter { $0.isDone && $0.number <= last ?? .max }.map(\.number))
        var version = 0
        var beat = 0
        while !isOver, !stream.isClosed {
            let news = parts.log.all.filter { $0.isDone && !sent.contains($0.number) }.reversed()
            for request in news {
                sent.insert(request.number)
                guard request.matches(method: method, error: error) else { continue }
                guard stream.write(Array(Page.event(request).utf8)) else { return }
            }
            if sent.count > 10_000, let first = parts.log.all.last?.number { sent = sent.filter { $0 >= first } }
            version = parts.log.wait(after: version)
            beat += 1
            if beat % 20 == 0, !stream.write(Array(": open\n\n".utf8)) { return }
        }
    }
}
