import Mintmark

/// What the pages show and change.
struct ConsoleParts: Sendable {
    let mintmark: Mintmark
    let settings: ConsoleSettings
    let calls: Calls
    let log = RequestLog()
    let imports = ImportJobs()

    init(_ mintmark: Mintmark, _ settings: ConsoleSettings) {
        self.mintmark = mintmark
        self.settings = settings
        calls = Calls(mintmark, showsSecrets: settings.showsSecrets)
    }

    /// Whether the console knows requests of a process.
    var hasRequests: Bool { settings.isSidecar || settings.traceFile != nil }
}
