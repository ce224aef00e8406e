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

    /// The maximum size of a document, in bytes.
    public static let maximumBytes = 5 * 1024
    public static let timeoutMilliseconds = 5_000

    let fetch: @Sendable (String) -> Answer

    /// - Parameter fetch: Sends a GET request, without redirects, to a public address with https or to this machine.
    public init(fetch: @escaping @Sendable (String) -> Answer) { self.fetch = fetch }
}

/// The clients whose ID is the URL of a document (OAuth Client ID Metadata Document).
final class ClientDocuments: Sendable {
    private struct Cached {
        let client: KnownClient
        let expiresAt: Int64
    }

    private struct State {
        var cached = BoundedCache<Cached>(atMost: 1_000)
        var requests = 0
    }

    /// The maximum number of requests at a time, because anyone can cause one.
    private static let maximumRequests = 8
    private static let usualSeconds = 300
    private static let maximumSeconds = 3_600

    private let source: ClientDocumentSource
    private let state = Mutex(State())

    init(_ source: ClientDocumentSource) { self.source = source }

    func forget() { state.withLock { $0.cached = BoundedCache(atMost: 1_000) } }

    /// Returns the client at a URL.
    ///
    /// - Parameter own: The base URL of the provider, which is no client.
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    func client(_ id: String, notAt own: String, at now: Int64) throws -> KnownClient {
        if let flaw = Self.flaw(of: id, own) { throw Self.refusal("The client ID \(id.prefix(200)) is not the URL of a document: it \(flaw)") }
        if let cached = state.withLock({ $0.cached[id] }), cached.expiresAt > now { return cached.client }
        guard state.withLock({ state in
            guard state.requests < Self.maximumRequests else { return false }
            state.requests += 1
            return true
        }) else { throw OAuthRefusal("temporarily_unavailable", "Too many client metadata documents are being fetched. Try again.") }
        defer { state.withLock { $0.requests -= 1 } }
        switch source.fetch(id) {
        case .failed(let reason): throw Self.refusal("The document of the client cannot be fetched. \(reason)")
        case .received(let status, let contentType, let maxAge, let body):
            guard status == 200 else { throw Self.refusal("The document of the client has the status \(status); 200 is required.") }
            let type = contentType ?? ""
            guard type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json") else {
                throw Self.refusal("The document of the client must have the Content-Type application/json.")
            }
            let client = try Self.client(id, body)
            let seconds = Int64(max(0, min(maxAge ?? Self.usualSeconds, Self.maximumSeconds)))
            if seconds > 0 { state.withLock { $0.cached[id] = Cached(client: client, expiresAt: now + seconds) } }
            return client
        }
    }

    /// Returns whether a client ID has the form of a URL.
    static func isURL(_ id: String) -> Bool { id.hasPrefix("https://") || id.hasPrefix("http://") }

    private static func client(_ id: String, _ body: [UInt8]) throws -> KnownClient {
        guard let object = (try? JSONValue(parsing: body))?.object else { throw refusal("The document of the client is not a JSON object.") }
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
        guard id.utf8.count <= 2048, let url = try? HTTPURL(id), url.isPlainASCII else { return "must be a URL of at most 2048 characters." }
        if url.userInformation != nil { return "must not contain a user name or a password." }
        if url.fragment != nil || id.contains("#") { return "must not contain a fragment." }
        if url.path.isEmpty || url.path == "/" { return "must have a path." }
        let segments = url.path.split(separator: "/", omittingEmptySubsequences: false).map { $0.lowercased() }
        let dots: Set = [".", "..", "%2e", "%2e%2e", ".%2e", "%2e."]
        if segments.contains(where: dots.contains) { return "must not contain the segments . and .." }
        guard AddressPolicy(allowsInsecureLoopback: true).admitsScheme(of: url) else {
            return "must use https: plain http is allowed only for this machine."
        }
        if url.isLoopback, let own = try? HTTPURL(own), own.effectivePort == url.effectivePort { return "must not be an address of the provider." }
        return nil
    }

    private static func refusal(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_client", reason, status: 400) }
}
