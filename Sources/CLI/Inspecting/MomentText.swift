import Glibc

/// A time as text for a reader.
enum MomentText {
    /// Returns a local time and its distance: `2026-11-22 19:40:01, in 58 minutes`.
    static func text(_ moment: Int64, now: Int64) -> String { "\(local(moment)), \(distance(moment - now))" }

    private static func local(_ moment: Int64) -> String {
        var (seconds, parts) = (time_t(moment), tm())
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func distance(_ seconds: Int64) -> String {
        let units: [(Int64, String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]
        let size = abs(seconds)
        if size == 0 { return "now" }
        // 119 minutes are more telling than 1 hour.
        let (unit, name) = units.first { size >= 2 * $0.0 } ?? (1, "second")
        let text = Printing.count(size / unit, name)
        return seconds > 0 ? "in \(text)" : "\(text) ago"
    }
}
