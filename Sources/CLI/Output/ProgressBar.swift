import Glibc
import Platform
import Synchronization

/// Shows the progress of a long command on standard error.
///
/// On a terminal, the bar appears after half a second, changes at most ten times per second and is erased at the end. Elsewhere nothing is
/// printed, unless `--progress plain` asks for a line every five seconds. Can be used by several threads.
final class ProgressBar: Sendable {
    enum Style: String, CaseIterable {
        case auto, plain, none
    }

    private struct State {
        var nextAt: UInt64
        var isShown = false
        var done: Int64 = 0
        var total: Int64?
        var isFinished = false
    }

    private let words: String
    private let unit: String
    private let startedAt = Monotonic.nanoseconds()
    private let style: Style
    private let isBar: Bool
    private let state: Mutex<State>
    private static let second: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - words: The activity, such as `Importing`.
    ///   - unit: The plural of what is counted, such as `accounts`. If it is empty, the bar shows the time.
    init(_ words: String, unit: String, style: Style = .auto) {
        self.words = words
        self.unit = unit
        self.style = style
        isBar = style == .auto && isatty(2) == 1 && Environment.plain("TERM").map { $0 != "dumb" } ?? false
        state = Mutex(State(nextAt: startedAt + (style == .plain ? 5 * Self.second : Self.second / 2)))
    }

    deinit { finish() }

    /// Shows the progress.
    ///
    /// - Parameter total: The number at the end; `nil` if it is unknown.
    func update(_ done: Int64, of total: Int64?) {
        guard isBar || style == .plain else { return }
        state.withLock { state in
            (state.done, state.total) = (done, total)
            show(&state)
        }
    }

    /// Shows the progress regularly until `finish`, for work that waits for long between two updates.
    func tick() {
        guard isBar || style == .plain else { return }
        _ = Thread.start(name: "progress") { [weak self] in
            var pause = timespec(tv_sec: 0, tv_nsec: 100_000_000)
            while let self {
                let isFinished = self.state.withLock { state in
                    if !state.isFinished { self.show(&state) }
                    return state.isFinished
                }
                if isFinished { return }
                nanosleep(&pause, nil)
            }
        }
    }

    private func show(_ state: inout State) {
        let now = Monotonic.nanoseconds()
        guard now >= state.nextAt else { return }
        state.nextAt = now + (isBar ? Self.second / 10 : 5 * Self.second)
        let text = text(state.done, state.total, seconds: Double(now - startedAt) / Double(Self.second))
        guard isBar else { return Printing.err(text) }
        let line = TextWidth.cut(text, to: max(20, (TextWidth.available(on: .error) ?? 80) - 1))
        Printing.err("\r\(line)\u{1B}[K", terminator: "")
        state.isShown = true
    }

    /// Removes the bar. Further updates show it again.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            if state.isShown { Printing.err("\r\u{1B}[K", terminator: "") }
            state.isShown = false
        }
    }

    private func text(_ done: Int64, _ total: Int64?, seconds: Double) -> String {
        let rate = seconds > 0 ? Double(done) / seconds : 0
        let speed = rate >= 10 ? "\(Int64(rate))" : "\(Double(Int64(rate * 10)) / 10)"
        guard let total, total > 0 else {
            return unit.isEmpty ? "\(words): \(Self.duration(Int64(seconds)))" : "\(words): \(done) \(unit), \(speed)/s"
        }
        let share = min(1, max(0, Double(done) / Double(total)))
        let filled = Int(share * 20)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
        let rest = rate > 0 ? ", \(Self.duration(Int64(Double(total - done) / rate))) left" : ""
        return "\(words): [\(bar)] \(Int(share * 100))%  \(done) of \(total) \(unit), \(speed)/s\(rest)"
    }

    private static func duration(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        if seconds < 60 { return "\(seconds) s" }
        return seconds < 3600 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}
