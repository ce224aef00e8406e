import Glibc
import JSON
import Logging
import Platform

/// Writes a log as JSON lines, or as plain text if standard error is a terminal.
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
            let tail = fields.map { " \($0.key)=\(Self.plain($0.value))" }.joined()
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
            Self.write(value, to: &writer)
        }
        writer.endObject()
        ring.append(writer.bytes + [UInt8(ascii: "\n")])
    }

    /// Lists, dictionaries and integers keep their types, so that logged values can be reused.
    private static func write(_ value: Logger.MetadataValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.string(text)
        case .stringConvertible(let value):
            if let number = value as? Int64 { writer.int(number) } else { writer.string("\(value)") }
        case .array(let elements):
            writer.beginArray()
            for element in elements { write(element, to: &writer) }
            writer.endArray()
        case .dictionary(let members):
            writer.beginObject()
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.key(key)
                write(value, to: &writer)
            }
            writer.endObject()
        }
    }

    private static func plain(_ value: Logger.MetadataValue) -> String {
        if case .string(let text) = value { return text }
        var writer = JSONWriter()
        write(value, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
