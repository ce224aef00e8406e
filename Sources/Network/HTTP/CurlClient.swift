import CCurl
import Platform
import Synchronization

/// HTTP by libcurl, which is loaded with the first request.
///
/// Certificates are always checked. Environment variables, `.netrc`, cookies and compressed answers are not used.
public final class CurlClient: HTTPClient {
    /// What holds for all requests of a client.
    public struct Options: Sendable {
        /// A file of PEM certificates that are trusted beside the system's own: `--ca-file`.
        public var caFile: String?
        /// A proxy for all but loopback: `--proxy`, such as `http://proxy.example:3128`. Behind one, only addresses that stand in
        /// the URL can be refused for being private: the proxy resolves names.
        public var proxy: String?
        /// The header `User-Agent`.
        public var userAgent: String

        public init(caFile: String? = nil, proxy: String? = nil, userAgent: String = "mintmark") {
            self.caFile = caFile
            self.proxy = proxy
            self.userAgent = userAgent
        }
    }

    private let options: Options
    private let libraryName: String
    private let loaded = Mutex<(library: CurlLibrary, handles: CurlHandles)?>(nil)

    public convenience init(_ options: Options = Options()) { self.init(options, library: "libcurl.so.4") }

    init(_ options: Options, library: String) {
        self.options = options
        libraryName = library
    }

    /// Sends a request; see `HTTPClient.send`. May be called on many threads at once.
    public func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        let (library, handles) = try load()
        let deadline = Monotonic.nanoseconds() + UInt64(max(1, request.policy.timeoutMilliseconds)) * 1_000_000
        var url = try RequestURL(request.url, library, policy: request.policy)
        for _ in 0...max(0, request.policy.maximumRedirects) {
            let exchange = CurlExchange(request, url, options, library)
            let (response, target) = try handles.withHandle(request.policy) { easy throws(HTTPFailure) in
                try exchange.perform(easy, until: deadline)
            }
            guard let target else { return response }
            url = try follow(target, from: url, request, library)
        }
        throw HTTPFailure(.tooManyRedirects, at: url.origin)
    }

    private func follow(_ target: String, from url: RequestURL, _ request: HTTPRequest, _ library: CurlLibrary) throws(HTTPFailure)
        -> RequestURL
    {
        // What is wrong with the target is the redirecting side's doing; it is not asked anything.
        guard let next = try? RequestURL(target, library, policy: request.policy) else {
            throw HTTPFailure(.redirectRefused(to: "a URL that is not allowed"), at: url.origin)
        }
        guard request.method == .GET, next.origin == url.origin, request.policy.maximumRedirects > 0 else {
            throw HTTPFailure(.redirectRefused(to: next.origin), at: url.origin)
        }
        return next
    }

    /// Loads libcurl, as the first request would.
    ///
    /// - Throws: `libraryMissing`.
    public func prepare() throws(HTTPFailure) { _ = try load() }

    /// Loads libcurl unless it is. A failure is not remembered: the library may be installed meanwhile.
    private func load() throws(HTTPFailure) -> (CurlLibrary, CurlHandles) {
        try loaded.withLock { loaded throws(HTTPFailure) in
            if let loaded { return loaded }
            let library = try CurlLibrary(libraryName)
            let made = (library, CurlHandles(library))
            loaded = made
            return made
        }
    }
}
