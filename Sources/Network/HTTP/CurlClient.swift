import CCurl
import Platform
import Synchronization

/// An HTTP client that uses libcurl, which is loaded with the first request.
///
/// Certificates are always verified. Environment variables, `.netrc`, cookies and compressed responses are not used.
public final class CurlClient: HTTPClient {
    /// The settings for all requests of a client.
    public struct Options: Sendable {
        /// A file of PEM certificates to trust in addition to those of the system: `--ca-file`.
        public var caFile: String?
        /// A proxy for all URLs except loopback: `--proxy`, such as `http://proxy.example:3128`. With a proxy, private addresses can be
        /// rejected only if they are literal in the URL, because the proxy resolves names.
        public var proxy: String?
        /// The header `User-Agent`.
        public var userAgent: String
        /// The longest time limit of a request, in milliseconds, for tests that wait for it.
        public var maximumMilliseconds = Int.max

        public init(caFile: String? = nil, proxy: String? = nil, userAgent: String = "mintmark") {
            self.caFile = caFile
            self.proxy = proxy
            self.userAgent = userAgent
        }

        /// Returns a request with a time limit that is not longer.
        public func limited(_ request: HTTPRequest) -> HTTPRequest {
            var request = request
            request.policy.timeoutMilliseconds = min(request.policy.timeoutMilliseconds, maximumMilliseconds)
            return request
        }
    }

    private let options: Options
    private let libraryName: String
    private let loaded = Mutex<(library: CurlLibrary, handles: CurlHandles<ConnectionReach>)?>(nil)

    public convenience init(_ options: Options = Options()) { self.init(options, library: "libcurl.so.4") }

    init(_ options: Options, library: String) {
        self.options = options
        libraryName = library
    }

    /// Sends a request; see `HTTPClient.send`. Can be called on several threads at the same time.
    public func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        let request = options.limited(request)
        let (library, handles) = try load()
        let deadline = Monotonic.nanoseconds() + UInt64(max(1, request.policy.timeoutMilliseconds)) * 1_000_000
        var url = try RequestURL(request.url, library, policy: request.policy)
        for _ in 0...max(0, request.policy.maximumRedirects) {
            let exchange = CurlExchange(request, to: url, options, by: library)
            let (response, target) = try handles.withHandle(
                for: ConnectionReach(request.policy), missing: { HTTPFailure(.libraryMissing("it is out of memory"), at: "") }
            ) { easy throws(HTTPFailure) in
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
        // A target that is not valid is reported as an error of the redirecting server; no request is sent to the target.
        guard let next = try? RequestURL(target, library, policy: request.policy) else {
            throw HTTPFailure(.redirectRefused(to: "a URL that is not allowed"), at: url.origin)
        }
        guard request.method == .GET, next.origin == url.origin, request.policy.maximumRedirects > 0 else {
            throw HTTPFailure(.redirectRefused(to: next.origin), at: url.origin)
        }
        return next
    }

    /// Loads libcurl, like the first request does.
    ///
    /// - Throws: `libraryMissing`.
    public func prepare() throws(HTTPFailure) { _ = try load() }

    /// Loads libcurl if it is not loaded yet. A failure is not cached, because the library can be installed later.
    private func load() throws(HTTPFailure) -> (CurlLibrary, CurlHandles<ConnectionReach>) {
        try loaded.withLock { loaded throws(HTTPFailure) in
            if let loaded { return loaded }
            let library = try CurlLibrary(libraryName)
            let made = (library, CurlHandles<ConnectionReach>(library, maximumIdle: 8))
            loaded = made
            return made
        }
    }
}
