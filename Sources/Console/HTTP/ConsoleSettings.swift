/// The settings of the console.
public struct ConsoleSettings: Sendable {
    /// The port on 127.0.0.1; 0 for any free port.
    public var port: UInt16 = 0
    /// Whether methods that write can be called.
    public var allowsWrites = false
    /// Whether secrets in results are shown.
    public var showsSecrets = false
    /// The trace file of another process whose requests are shown.
    public var traceFile: String?
    /// Whether the console is part of the process that serves the requests.
    public var isSidecar = false
    /// Returns the problems that `mintmark doctor` reports.
    public var warnings: @Sendable () -> [String] = { [] }

    public init() {}
}
