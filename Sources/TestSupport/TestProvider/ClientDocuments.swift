import Contract
import JSON
import Platform
import Synchronization

/// Fetches the document at a client ID, which the process provides to the test provider.
public struct ClientDocumentSource: Sendable {
    public enum Answer: Sendable {
        case received(status: Int, contentType: String?, maxAgeSeconds: Int?, body: [UInt8])
        /// The reason there is no answer, as a sentence.
        case failed(String)
    }

    public static let timeoutMilliseconds = 5_000

    let fetch: @Sendable (_ url: String, _ maximumBytes: Int) -> Answer

    /// - Parameter fetch: Sends a GET request, without redirects, to a public address with https or to this machine.
    public init(fetch: @escaping @Sendable (_ url: String, _ maximumBytes: Int) -> Answer) { self.fetch = fetch }
}

/// The clients whose ID is the URL of a document (OAuth Client ID Metadata Document).
final class ClientDocuments: Sendable {
    private struct Cached {
        let client: KnownClient
        let expiresAt: Int64
    }

    private struct State {
        var cached = BoundedCache<Cached>(atMost: 1_000)
        var keySets = BoundedCache<KeySet>(atMost: 1_000)
        var requests = 0
    }

    /// The key set of a client that publishes its keys.
    struct KeySet {
        let body: [UInt8]
        let expiresAt: Int64
    }

    /// The maximum size of a document, in bytes.
    private static let maximumBytes = 5 * 1024

    /// The maximum number of requests at a time, because anyone can cause one.
    private static let maximumRequests = 8
    private static let usualSeconds = 300
    private static let maximumSeconds = 3_600

    private let source: ClientDocumentSource
    private let state = Mutex(State())

    init(_ source: ClientDocumentSource) { self.source = source }

    func forget() {
        state.withLock { state in
            state.cached = BoundedCache(atMost: 1_000)
            state.keySets = BoundedCache(atMost: 1_000)
        }
    }

    func knownKeySet(at url: String) -> KeySet? { state.withLock { $0.keySets[url] } }

    func keep(keySet body: [UInt8], at url: String, until end: Int64) {
        state.withLock { $0.keySets[url] = KeySet(body: body, expiresAt: end) }
    }

    /// Returns the client at a URL.
    ///
    /// - Parameters:
    ///   - own: The base URL of the provider, whose documents cannot be clients.
    ///   - mayFetch: Whether a document that is not known is fetched. Otherwise, its last version is used, also after its time. Only pages
    ///     for users fetch: pages of any origin can read the responses of the other endpoints, and would learn which ports of this machine
    ///     are open.
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    func client(_ id: String, notAt own: String, at now: Int64, mayFetch: Bool) throws -> KnownClient {
        if let flaw = Self.flaw(of: id, own) {
            throw Self.refusal("The client ID \(id.prefix(200)) is not the URL of a document: it \(flaw)")
        }
        if let cached = state.withLock({ $0.cached[id] }), cached.expiresAt > now || !mayFetch { return cached.client }
        guard mayFetch else {
            throw OAuthRefusal("invalid_client", "The client \(id.prefix(200)) has not been used at the authorization endpoint yet.")
        }
        let answer = try receive(id, "document", maximumBytes: Self.maximumBytes, status: 400)
        let client = try Self.client(id, answer.body)
        state.withLock { $0.cached[id] = Cached(client: client, expiresAt: now + answer.seconds) }
        return client
    }

    /// Fetches a JSON document of a client.
    ///
    /// - Parameters:
    ///   - name: The name of the document in messages.
    ///   - status: The status of an error, or `nil` for the one of `invalid_client`.
    /// - Returns: The document, and the time for which it can be cached, in seconds.
    /// - Throws: `OAuthRefusal` with `invalid_client` or `temporarily_unavailable`.
    func receive(_ url: String, _ name: String, maximumBytes: Int, status: Int? = nil) throws -> (body: [UInt8], seconds: Int64) {
        guard
            state.withLock({ state in
                guard state.requests < Self.maximumRequests else { return false }
                state.requests += 1
                return true
            })
        else { throw OAuthRefusal("temporarily_unavailable", "Too many client metadata documents are being fetched. Try again.") }
        defer { state.withLock { $0.requests -= 1 } }
        func refuse(_ reason: String) -> OAuthRefusal {
            OAuthRefusal("invalid_client", "The \(name) of the client \(reason)", status: status)
        }
        switch source.fetch(url, maximumBytes) {
        case .failed(let reason): throw refuse("cannot be fetched. \(reason)")
        case .received(let status, let contentType, let maxAge, let body):
            guard status == 200 else { throw refuse("has the status \(status); 200 is required.") }
            let type = contentType ?? ""
            guard type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json") else {
                throw refuse("must have the Content-Type application/json.")
            }
            return (body, Int64(max(0, min(maxAge ?? Self.usualSeconds, Self.maximumSeconds))))
        }
    }

    /// Returns whether a client ID has the form of a URL.
    static func isURL(_ id: String) -> Bool { id.hasPrefix("https://") || id.hasPrefix("http://") }

    private static func client(_ id: String, _ body: [UInt8]) throws -> KnownClient {
        guard let object = (try? JSONValue(parsing: body))?.object else {
            throw refusal("The document of the client is not a JSON object.")
        }
        guard object["client_id"]?.string.map({ $0.utf8.elementsEqual(id.utf8) }) == true else {
            throw refusal("The client_id in the document of the client must be its URL, \(id).")
        }
        for name in ["client_secret", "client_secret_expires_at"] where object[name] != nil {
            throw refusal("The document of the client must not contain \(name).")
        }
        let metadata: ClientMetadata
        do { metadata = try ClientMetadata(object, from: .document(id)) } catch let error as OAuthRefusal {
            throw refusal("The document of the client is not valid: \(error.description ?? error.code)")
        }
        return KnownClient(settings: TestClient(clientId: id, redirectUris: metadata.redirectUris), metadata: metadata)
    }

    /// Returns the reason a URL cannot be a client ID. The address is checked when the document is fetched.
    private static func flaw(of id: String, _ own: String) -> String? {
        guard id.utf8.count <= 2048, let url = try? HTTPURL(id), url.isPlainASCII else {
            return "must be a URL of at most 2048 characters."
        }
        if url.userInformation != nil { return "must not contain a user name or a password." }
        if url.fragment != nil || id.contains("#") { return "must not contain a fragment." }
        if url.path.isEmpty || url.path == "/" { return "must have a path." }
        let segments = url.path.split(separator: "/", omittingEmptySubsequences: false).map { $0.lowercased() }
        let dots: Set = [".", "..", "%2e", "%2e%2e", ".%2e", "%2e."]
        if segments.contains(where: dots.contains) { return "must not contain the segments . and .." }
        guard AddressPolicy(allowsInsecureLoopback: true).admitsScheme(of: url) else {
            return "must use https: plain http is allowed only for this machine."
        }
        if url.isLoopback, let own = try? HTTPURL(own), own.effectivePort == url.effectivePort {
            return "must not be an address of the provider."
        }
        return nil
    }

    private static func refusal(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_client", reason, status: 400) }
}
