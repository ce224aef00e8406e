import Accounts
import Contract
import Loopback
import ServiceContext
import Synchronization

/// The OpenID Connect provider for tests: one server on the loopback address, its issuers, and what it remembers until the process ends.
/// Accounts, sessions and keys are those of the store.
public final class TestProvider: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    let accounts: AccountService
    let memory = Mutex(ProviderState())
    let failures: ProviderFailures

    private struct State {
        var server: LoopbackServer?
        /// The port of the server, or of the one before it.
        var port: UInt16?
        /// While there is no server: nobody else gets its port.
        var place: LoopbackPlace?
        /// In the order in which they were named.
        var issuers: [TestIssuer] = []
    }

    private let state = Mutex(State())

    public init(
        _ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache, accounts: AccountService, failures: ProviderFailures
    ) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        self.accounts = accounts
        self.failures = failures
    }

    /// Listens, unless it does so already.
    ///
    /// - Parameter port: nil for the one it had before, else any.
    /// - Throws: `LoopbackFailure`.
    func start(port: UInt16?) throws(LoopbackFailure) {
        try state.withLock { state throws(LoopbackFailure) in
            if let server = state.server {
                guard let port, port != server.port else { return }
                throw LoopbackFailure(port: Int(port), reason: "the provider already listens on port \(server.port); stop it first")
            }
            let (wanted, kept) = (port ?? state.port ?? 0, state.place?.port)
            if wanted == kept { state.place = nil }
            do throws(LoopbackFailure) {
                let server = try LoopbackServer(port: wanted) { [weak self] request in
                    self?.answer(request) ?? LoopbackResponse(status: 503, text: "The provider has stopped.")
                }
                (state.server, state.port, state.place) = (server, server.port, nil)
            } catch {
                if let kept, state.place == nil { state.place = try? LoopbackPlace(port: kept) }
                throw error
            }
        }
    }

    /// Stops listening when everything that was asked is answered; the port stays its own.
    public func stop() {
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        guard let server else { return }
        server.stop()
        state.withLock { state in if state.server == nil { state.place = try? LoopbackPlace(port: server.port) } }
    }

    /// Takes a port where nobody listens yet, unless it has one: its issuers have addresses, and whoever asks there is refused.
    ///
    /// - Parameter port: nil for any.
    /// - Throws: `LoopbackFailure`.
    func choosePlace(port: UInt16?) throws(LoopbackFailure) {
        try state.withLock { state throws(LoopbackFailure) in
            guard state.port == nil else { return }
            let place = try LoopbackPlace(port: port ?? 0)
            state.place = place
            state.port = place.port
        }
    }

    /// Takes these issuers in place of those of the same names.
    func take(_ issuers: [TestIssuer]) {
        state.withLock { state in
            for issuer in issuers {
                if let known = state.issuers.firstIndex(where: { $0.name == issuer.name }) {
                    state.issuers[known] = issuer
                } else {
                    state.issuers.append(issuer)
                }
            }
        }
    }

    /// Forgets the issuers that were named, codes, logins and what was enqueued.
    func forget() {
        state.withLock { $0.issuers = [] }
        memory.withLock { $0 = ProviderState() }
    }

    var isRunning: Bool { state.withLock { $0.server != nil } }

    /// `http://127.0.0.1:<port>`, of the port it had last while it does not listen; nil before it ever did.
    var baseURL: String? { state.withLock { $0.port.map { "http://127.0.0.1:\($0)" } } }

    /// The issuers that were named, in their order.
    var named: [TestIssuer] { state.withLock { $0.issuers } }

    /// The rules of an issuer: those that were given, else those of a tenant that is called so.
    func settings(of name: String) -> TestIssuer { named.first { $0.name == name } ?? TestIssuer(name: name) }

    /// The issuer that is called so, nil if there is no such tenant.
    func issuer(_ name: String) throws -> ProviderIssuer? {
        guard !name.utf8.contains(0), let baseURL else { return nil }
        let settings = settings(of: name)
        let tenant = try surroundings.database.read { try catalogue.knownTenant(settings.tenantId ?? name, in: $0) }
        return tenant.map { ProviderIssuer(settings: settings, tenant: $0, url: "\(baseURL)/\(name)") }
    }

    /// Whose keys sign as `issuer`, nil if it is none of this provider.
    func owner(ofIssuer issuer: String) -> KeyOwner? {
        guard issuer.contains("/"), let name = name(of: issuer) else { return nil }
        return .tenant(settings(of: name).tenantId ?? name)
    }

    /// The name of an issuer that is given by its name or as its tokens have it; nil for one of somebody else.
    func name(of issuer: String) -> String? {
        guard issuer.contains("/") else { return issuer }
        guard let baseURL, issuer.hasPrefix(baseURL + "/") else { return nil }
        return String(issuer.dropFirst(baseURL.utf8.count + 1))
    }
}

/// An issuer as a request meets it.
struct ProviderIssuer: Sendable {
    let settings: TestIssuer
    let tenant: TenantRecord
    /// As its tokens have it in iss.
    let url: String

    var name: String { settings.name }

    /// What it is to a client that it knows, nil for a stranger where only those are served.
    func client(_ id: String) -> TestClient? {
        guard let clients = settings.clients else { return TestClient(clientId: id) }
        return clients.first { $0.clientId == id }
    }

    /// Whether only clients that were named are served.
    var isStrict: Bool { settings.clients != nil }
}
