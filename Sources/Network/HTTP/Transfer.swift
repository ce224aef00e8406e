import CCurl
import Platform

/// The data received in one exchange, within its limits. Accessed only by the thread that performs the exchange.
final class Transfer {
    private let policy: HTTPPolicy
    private let scheme: HTTPURL.Scheme
    private let goesThroughProxy: Bool
    private let isCancelled: @Sendable () -> Bool

    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private var headerBytes = 0
    /// The reason this program aborted the transfer. libcurl reports only that it was aborted.
    private(set) var verdict: HTTPFailure.Reason?
    /// Whether the body was truncated at its limit.
    private(set) var isCut = false

    init(_ request: HTTPRequest, scheme: HTTPURL.Scheme, goesThroughProxy: Bool) {
        policy = request.policy
        isCancelled = request.isCancelled
        self.scheme = scheme
        self.goesThroughProxy = goesThroughProxy
    }

    /// Performs the transfer that `easy` is configured for and returns its CURLcode and libcurl's message.
    func perform(_ easy: OpaquePointer, _ library: CurlLibrary) -> (code: Int32, words: String) {
        var callbacks = ccurl_callbacks(
            context: Unmanaged.passUnretained(self).toOpaque(),
            admits: { Transfer.from($0).admits($1!) },
            header: { Transfer.from($0).takeHeader(UnsafeRawBufferPointer(start: $1, count: $2)) },
            body: { Transfer.from($0).takeBody(UnsafeRawBufferPointer(start: $1, count: $2)) },
            continues: { Transfer.from($0).continues() })
        var words = [CChar](repeating: 0, count: CCURL_REASON_CAPACITY)
        let code = withExtendedLifetime(self) { ccurl_perform(library.table, easy, &callbacks, &words) }
        return (code, text(words))
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Returns whether the address is allowed. The checked address is the one of the connection, so a name that resolves to another address
    /// later cannot bypass the check. The address of a proxy is always allowed, because the administrator configured it.
    private func admits(_ address: UnsafePointer<sockaddr>) -> Bool {
        if goesThroughProxy { return true }
        if let address = NetworkAddress(address), policy.addresses.admits(address, scheme: scheme) {
            // An earlier address of the same name may have been rejected; this one replaces that verdict.
            verdict = nil
            return true
        }
        verdict = .privateAddress
        return false
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= HTTPPolicy.maximumHeaderBytes else {
            verdict = .tooLarge(maximumBytes: HTTPPolicy.maximumHeaderBytes)
            return false
        }
        // A status line begins a new response: the previous headers belonged to an interim response.
        if line.starts(with: "HTTP/".utf8) {
            headers = []
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[(colon + 1)...].filter { $0 != 0x0d && $0 != 0x0a }
            headers.append((String(decoding: line[..<colon], as: UTF8.self), trimmed(String(decoding: value, as: UTF8.self))))
        }
        return true
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= policy.maximumBytes - body.count else {
            isCut = policy.cutsBody
            verdict = .tooLarge(maximumBytes: policy.maximumBytes)
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    private func continues() -> Bool {
        guard isCancelled() else { return true }
        verdict = .cancelled
        return false
    }
}
