import CCurl
import Platform

/// A URL, parsed by the library that connects to it: if two parsers disagree, a check on one of them can be bypassed.
struct RequestURL {
    /// The whole URL, without a fragment.
    let text: String
    let scheme: HTTPURL.Scheme
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    let host: String
    /// The scheme, host and port.
    let origin: String

    /// - Throws: `malformedURL`, `credentialsInURL`, `schemeNotAllowed`, `privateAddress`.
    init(_ text: String, _ library: CurlLibrary, policy: HTTPPolicy) throws(HTTPFailure) {
        guard !text.utf8.contains(0), let parts = library.table.pointee.url() else { throw HTTPFailure(.malformedURL, at: "") }
        defer { library.table.pointee.url_cleanup(parts) }
        guard library.table.pointee.url_set(parts, Part.url.rawValue, text, Self.anyScheme) == 0,
            let name = Self.read(.scheme, of: parts, library)
        else { throw HTTPFailure(.malformedURL, at: "") }
        guard let scheme = HTTPURL.Scheme(rawValue: name) else { throw HTTPFailure(.schemeNotAllowed(name), at: "") }
        guard let host = Self.read(.host, of: parts, library), let port = Self.read(.port, of: parts, library),
            library.table.pointee.url_set(parts, Part.fragment.rawValue, nil, 0) == 0,
            let whole = Self.read(.url, of: parts, library)
        else { throw HTTPFailure(.malformedURL, at: "") }
        self.text = whole
        self.scheme = scheme
        self.host = host.lowercased()
        origin = "\(name)://\(self.host)" + (port == (scheme == .https ? "443" : "80") ? "" : ":\(port)")

        for part in [Part.user, .password] where Self.read(part, of: parts, library) != nil {
            throw HTTPFailure(.credentialsInURL, at: origin)
        }
        let (addresses, isLoopback) = (policy.addresses, HTTPURL.isLoopback(host: self.host))
        guard addresses.admits(scheme: scheme, isLoopback: isLoopback) else { throw HTTPFailure(.schemeNotAllowed(name), at: origin) }
        // Literal addresses in the URL are also checked here, because behind a proxy no other check applies.
        if isLoopback, !addresses.admitsLoopbackNames { throw HTTPFailure(.privateAddress, at: origin) }
        if let address = NetworkAddress(host), !addresses.admits(address, scheme: scheme) {
            throw HTTPFailure(.privateAddress, at: origin)
        }
    }

    /// CURLUPART_…
    private enum Part: Int32 { case url, scheme, user, password, options, host, port, path, query, fragment }

    /// CURLU_NON_SUPPORT_SCHEME: accepts any scheme, so that the error can name it.
    private static let anyScheme: UInt32 = 1 << 3
    /// CURLU_DEFAULT_PORT
    private static let withDefaultPort: UInt32 = 1 << 0

    private static func read(_ part: Part, of parts: OpaquePointer, _ library: CurlLibrary) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        let flags = part == .port ? withDefaultPort : 0
        guard library.table.pointee.url_get(parts, part.rawValue, &value, flags) == 0, let value else { return nil }
        defer { library.table.pointee.free(value) }
        return String(cString: value)
    }
}
