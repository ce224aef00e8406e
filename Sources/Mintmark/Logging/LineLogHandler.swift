import Glibc
import JSON
import Logging
import Platform

/// Writes a log as JSON lines, or plainly for a person at a terminal.
public struct LineLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level
    private let ring: LogRing
    private let isPlain: Bool

    public init(ring: LogRing, level: Logger.Level, isPlain: Bool = isatty(2) == 1) {
        self.ring = ring
        self.isPlain = isPlain
        logLevel = level
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        if isPlain {
            let tail = fields.map { " \($0.key)=\($0.value)" }.joined()
            return ring.append(Array("mintmark: \(event.level): \(event.message)\(tail)\n".utf8))
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("at")
        writer.int(SystemClock().now)
        writer.key("level")
        writer.string(event.level.rawValue)
        writer.key("message")
        writer.string("\(event.message)")
        for (key, value) in fields {
            writer.key(key)
            writer.string("\(value)")
        }
        writer.endObject()
        ring.append(writer.bytes + [UInt8(ascii: "\n")])
    }
}
