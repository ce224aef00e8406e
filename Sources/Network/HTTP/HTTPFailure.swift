/// The reason a request has no response. The description is a sentence for the user and never contains potential secrets: the path and
/// query of the URL, headers, or data from the other side.
public struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        /// libcurl cannot be loaded; the text is the loader's message.
        case libraryMissing(String)
        /// The URL is not absolute or contains characters that are not allowed.
        case malformedURL
        /// The URL contains a user name or password.
        case credentialsInURL
        /// The name or value of a header contains characters that are not allowed; the text is the name.
        case malformedHeader(String)
        /// The scheme is not https, and not http to loopback where that is allowed.
        case schemeNotAllowed(String)
        /// The host name cannot be resolved.
        case unresolvable
        /// The policy does not allow the address of the host.
        case privateAddress
        /// The connection failed.
        case unreachable
        /// The connection to the proxy failed, or the proxy rejected the request.
        case proxyFailed
        case timedOut(milliseconds: Int)
        /// The certificate was rejected; the text is the reason.
        case certificate(String)
        /// The file in `--ca-file` cannot be read as PEM certificates.
        case unreadableCertificateFile
        /// The TLS handshake failed; the text is the reason.
        case encryption(String)
        /// The body or the headers exceed the limit.
        case tooLarge(maximumBytes: Int)
        /// A redirect to another origin (`to`), or a redirect of a POST.
        case redirectRefused(to: String)
        case tooManyRedirects
        /// The connection ended early, or the response is not valid HTTP; the text is libcurl's message.
        case protocolError(String)
        /// `isCancelled` returned true.
        case cancelled
    }

    public let reason: Reason
    /// The scheme, host and port of the URL; empty if the URL has none.
    public let origin: String

    public init(_ reason: Reason, at origin: String) {
        self.reason = reason
        self.origin = origin
    }

    /// Whether the same request can succeed later.
    public var isRetryable: Bool {
        switch reason {
        case .unresolvable, .unreachable, .proxyFailed, .timedOut, .protocolError: true
        default: false
        }
    }

    public var description: String {
        switch reason {
        case .libraryMissing(let why): "libcurl cannot be loaded (\(why)). Install it: apt-get install libcurl4"
        case .malformedURL: "The URL is not valid. Use an absolute URL, such as https://login.example.com/path."
        case .credentialsInURL: "The URL of \(origin) contains a user name or password. Remove them."
        case .malformedHeader(let name):
            "The header \(name) cannot be sent to \(origin): its name or value contains characters that HTTP does not allow."
        case .schemeNotAllowed("http"): "\(origin) is not an https URL. Plain HTTP is allowed only for loopback addresses."
        case .schemeNotAllowed(let scheme): "The scheme \(scheme) is not allowed. Use https."
        case .unresolvable: "The host name of \(origin) cannot be resolved. Check its spelling, and the name resolution of this machine."
        case .privateAddress:
            "\(origin) has a private, loopback or reserved address, which is not allowed. To allow it, set allowPrivateNetwork next to the URL."
        case .unreachable: "\(origin) does not accept connections. Check that it is running and not blocked by a firewall."
        case .proxyFailed: "The proxy did not connect to \(origin). Check --proxy."
        case .timedOut(let milliseconds) where milliseconds < 1_000: "\(origin) did not respond within \(milliseconds) ms."
        case .timedOut(let milliseconds): "\(origin) did not respond within \((milliseconds + 999) / 1_000) s."
        case .certificate(let why):
            "The certificate of \(origin) is not trusted: \(why). To add a private certificate authority, use --ca-file."
        case .unreadableCertificateFile: "The file in --ca-file does not exist or contains no PEM certificates."
        case .encryption(let why): "An encrypted connection to \(origin) could not be established: \(why)."
        case .tooLarge(let bytes): "The response of \(origin) has more than \(bytes) bytes."
        case .redirectRefused(let target): "\(origin) redirects to \(target). Redirects are not followed; use the final URL."
        case .tooManyRedirects: "\(origin) redirects too often."
        case .protocolError(let why): "The response of \(origin) is not valid HTTP: \(why)."
        case .cancelled: "The request to \(origin) was canceled."
        }
    }
}
