import Accounts
import Contract
import Loopback
import ServiceContext
import Synchronization

/// The OpenID Connect provider for tests: a server on the loopback address with its issuers. Its own state lasts until the process ends;
/// accounts, sessions and keys are those of the store.
public final class TestProvider: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    let accounts: AccountService
    let memory = Mutex(ProviderState())
    let failures: ProviderFailures
    let native: NativeAuthorization
    let documents: ClientDocuments

    /// The parts of the process that the provider uses.
    public struct Host {
        let failures: ProviderFailures
        let native: NativeAuthorization
        let documents: ClientDocumentSource

        public init(failures: ProviderFailures, native: NativeAuthorization, documents: ClientDocumentSource) {
            self.failures = failures
            self.native = native
            self.documents = documents
        }
    }

    private struct State {
        var server: LoopbackServer?
        /// The port of the current or the previous server.
        var port: UInt16?
        /// Reserves the port while no server runs.
        var place: ReservedPort?
        /// The configured issuers, in the order of configuration.
        var issuers: [TestIssuer] = []
    }

    private let state = Mutex(State())

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache, accounts: AccountService, host: Host) {
        self.context = context
        self.configurations = configurations
        self.accounts = accounts
        failures = host.failures
        native = host.native
        documents = ClientDocuments(host.documents)
    }

    /// Starts the server unless it is already running.
    ///
    /// - Parameter port: The port, or `nil` for the previous one. Without a previous one, any free port is used.
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
                if let kept, state.place == nil { state.place = try? ReservedPort(port: kept) }
                throw error
            }
        }
    }

    /// Stops the server after its pending requests have been answered. The port remains reserved.
    public func stop() {
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        guard let server else { return }
        server.stop()
        state.withLock { state in if state.server == nil { state.place = try? ReservedPort(port: server.port) } }
    }

    /// Reserves a port without listening, unless the provider already has one. The issuers then have URLs, and connections to them are
    /// refused.
    ///
    /// - Parameter port: The port, or `nil` for any free port.
    /// - Throws: `LoopbackFailure`.
    func choosePlace(port: UInt16?) throws(LoopbackFailure) {
        try state.withLock { state throws(LoopbackFailure) in
            guard state.port == nil else { return }
            let place = try ReservedPort(port: port ?? 0)
            state.place = place
            state.port = place.port
        }
    }

    /// Adds the issuers, and replaces those with the same name.
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

    /// Removes the configured issuers, codes, logins and enqueued answers.
    func forget() {
        state.withLock { $0.issuers = [] }
        memory.withLock { $0 = ProviderState() }
        documents.forget()
    }

    var isRunning: Bool { state.withLock { $0.server != nil } }

    /// The base URL `http://127.0.0.1:<port>`. Keeps the last port while the server is stopped; `nil` before the first start.
    var baseURL: String? { state.withLock { $0.port.map { "http://127.0.0.1:\($0)" } } }

    /// The configured issuers, in the order of configuration.
    var named: [TestIssuer] { state.withLock { $0.issuers } }

    /// Returns the configuration of an issuer. Defaults to that of the tenant with this name.
    func settings(of name: String) -> TestIssuer { named.first { $0.name == name } ?? TestIssuer(name: name) }

    /// Returns the issuer with this name, or `nil` if its tenant does not exist.
    func issuer(_ name: String) throws -> ProviderIssuer? {
        guard !name.utf8.contains(0), let baseURL else { return nil }
        let settings = settings(of: name)
        let tenant = try context.database.read { try configurations.knownTenant(settings.tenantId ?? name, in: $0) }
        return tenant.map { tenant in
            ProviderIssuer(settings: settings, tenant: tenant, url: "\(baseURL)/\(name)") { [weak self] id, documentUse in
                guard let self else { return nil }
                if let registered = memory.withLock({ $0.registrations[id] }), registered.issuer == name { return registered.known }
                guard let documentUse, ClientDocuments.isURL(id) else { return nil }
                return try documents.client(id, notAt: baseURL, at: context.clock.now, mayFetch: documentUse == .fetched)
            }
        }
    }

    /// Returns the owner of the keys of `issuer`, or `nil` if it is not an issuer of this provider.
    func owner(ofIssuer issuer: String) -> KeyOwner? {
        guard issuer.contains("/"), let name = name(of: issuer) else { return nil }
        return .tenant(settings(of: name).tenantId ?? name)
    }

    /// Returns the name of an issuer given by its name or URL, or `nil` if it belongs to another provider.
    func name(of issuer: String) -> String? {
        guard issuer.contains("/") else { return issuer }
        guard let baseURL, issuer.hasPrefix(baseURL + "/") else { return nil }
        return String(issuer.dropFirst(baseURL.utf8.count + 1))
    }
}

/// An issuer, as resolved for one request.
struct ProviderIssuer: Sendable {
    let settings: TestIssuer
    let tenant: TenantRecord
    /// The value of `iss` in its tokens.
    let url: String
    /// Returns a client that registered, or that has a document if documents are accepted.
    let lookUp: @Sendable (_ id: String, _ documents: DocumentUse?) throws -> KnownClient?

    /// How an endpoint gets the document of a client.
    enum DocumentUse {
        /// It fetches the document unless it is known.
        case fetched
        /// It uses the last version.
        case known
    }

    var name: String { settings.name }

    /// Returns the client with this ID, or `nil` if the issuer does not accept it.
    ///
    /// - Throws: `OAuthRefusal` if the ID is the URL of a document that cannot be used.
    func client(_ id: String, documents: DocumentUse = .known) throws -> KnownClient? {
        if let configured = settings.clients?.first(where: { $0.clientId.utf8.elementsEqual(id.utf8) }) {
            return KnownClient(settings: configured)
        }
        if acceptsRegistrations || acceptsDocuments { return try lookUp(id, acceptsDocuments ? documents : nil) }
        return settings.clients == nil ? .open(id) : nil
    }

    /// The end of the message for an unknown client.
    var acceptedClients: String {
        let ways = [
            settings.clients.map { _ in "the clients given to test.idp" }, acceptsRegistrations ? "clients that have registered" : nil,
            acceptsDocuments ? "client IDs that are the URL of a metadata document" : nil,
        ].compactMap(\.self)
        return "The issuer \(name) accepts \(ways.joined(separator: ", "))."
    }

    var acceptsRegistrations: Bool { settings.registration ?? (settings.resources != nil) }
    var acceptsDocuments: Bool { settings.clientIdMetadata ?? (settings.resources != nil) }
    /// Whether every client must use PKCE, as the authorization rules of the Model Context Protocol require.
    var requiresPKCE: Bool { settings.resources != nil }
}
