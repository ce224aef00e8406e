import FoundationEssentials
import JSONRPC
import Mintmark
import Platform
import ServiceContext

/// The settings of an in-process Mintmark, in types that this module and the client share.
struct LocalSettings: Sendable {
    var store: String?
    var app: String?
    var testing: Bool
    var clock: Int64?
    var publicCaller: Bool
    var issuer: String?
    var region: String?
    var account: String?
    var masterKeyFile: String?

    /// - Throws: `SettingRefused`, and `StoreCannotOpen` for a master key file that cannot be used.
    func configuration() throws -> Configuration {
        let environment = ProcessInfo.processInfo.environment
        let place =
            try app.map { app throws(SettingRefused) in
                try Configuration.Store(ofApp: app, dataHome: environment["XDG_DATA_HOME"], home: environment["HOME"])
            } ?? Configuration.Store(named: store ?? "")
        return Configuration(
            store: place, realm: try Deployment(issuer: issuer, region: region, account: account, testing: testing), testing: testing,
            publicCaller: publicCaller, masterKey: try masterKeyFile.map { try MasterKeyFile(path: $0).readGiven() },
            makesFolders: app != nil,
            clock: clock)
    }
}

/// The library behind the client's interface. In this file, `Mintmark` is the library's class; the client's class of the same name is used
/// in another file.
final class LocalMintmark: Sendable {
    private let mintmark: Mintmark
    private let server: LocalServer
    private let log: LogRing?

    /// - Throws: `LocalSettingsRefused`.
    init(
        _ settings: LocalSettings, log sink: (@Sendable ([UInt8]) -> Void)?,
        receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) throws {
        let log = sink.map { LogRing($0) }
        let configuration: Configuration
        do { configuration = try settings.configuration() } catch let error as SettingRefused {
            throw LocalSettingsRefused(reason: error.reason)
        } catch { throw LocalSettingsRefused(reason: "\(error)") }
        self.log = log
        mintmark = Mintmark(configuration, logRing: log)
        server = mintmark.local(receive: receive)
        // Opens the store immediately, so that problems are logged early and the first call finds it open.
        _ = Thread.start(name: "mintmark open") { [mintmark] in _ = try? mintmark.services() }
    }

    func take(_ line: [UInt8]) { line.dropLast().withUnsafeBytes { server.take($0) } }

    /// Finishes the received requests, closes the store and calls `onEnd`, no later than the deadline. Waits for longer-running requests
    /// before closing the store even after the deadline. Blocks.
    func close(deadline: UInt64, onEnd: () -> Void) {
        let isQuiet = server.close(deadline: deadline)
        if !isQuiet {
            onEnd()
            server.waitForThreads()
        }
        mintmark.close(logsHeads: true)
        log?.close()
        if isQuiet { onEnd() }
    }
}

/// The settings are not valid.
struct LocalSettingsRefused: Error { let reason: String }
