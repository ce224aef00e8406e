import CCurl
import Platform

/// One request to one URL and its response. A redirect counts as a response.
struct CurlExchange {
    private let request: HTTPRequest
    private let url: RequestURL
    private let options: CurlClient.Options
    private let library: CurlLibrary
    private let proxy: String?

    init(_ request: HTTPRequest, to url: RequestURL, _ options: CurlClient.Options, by library: CurlLibrary) {
        self.request = request
        self.url = url
        self.options = options
        self.library = library
        proxy = HTTPURL.isLoopback(host: url.host) ? nil : options.proxy
    }

    /// - Returns: The response, and the URL of a redirect.
    func perform(_ easy: OpaquePointer, until deadline: UInt64) throws(HTTPFailure) -> (HTTPResponse, redirect: String?) {
        let lines = try headerLines()
        defer { library.table.pointee.slist_free_all(lines) }
        let now = Monotonic.nanoseconds()
        guard now < deadline else { throw failure(.timedOut(milliseconds: request.policy.timeoutMilliseconds)) }
        let milliseconds = Int((deadline - now + 999_999) / 1_000_000)
        let transfer = Transfer(request, scheme: url.scheme, goesThroughProxy: proxy != nil)

        // libcurl reads the body from this buffer without copying it.
        let (code, words) = (request.body ?? []).withUnsafeBytes { body in
            let code = configure(easy, lines, body, milliseconds: milliseconds)
            return code == 0 ? transfer.perform(easy, library) : (code, "an option is not supported")
        }
        if code != 0, !transfer.isCut { throw failure(transfer.verdict ?? reason(code, words)) }
        let status = ccurl_status(library.table, easy)
        let response = HTTPResponse(status: status, headers: transfer.headers, body: transfer.body)
        let isRedirect = [301, 302, 303, 307, 308].contains(status)
        return (response, isRedirect ? ccurl_redirect(library.table, easy).map { String(cString: $0) } : nil)
    }

    /// Sets every relevant option, so that no environment variable or build setting of libcurl has an effect.
    ///
    /// - Returns: The CURLcode of the first option that was rejected, or 0.
    private func configure(_ easy: OpaquePointer, _ lines: OpaquePointer?, _ body: UnsafeRawBufferPointer, milliseconds: Int) -> Int32 {
        let table = library.table
        func number(_ option: ccurl_number, _ value: Int) -> Int32 { ccurl_set_number(table, easy, option, value) }
        func text(_ option: ccurl_text, _ value: String) -> Int32 { ccurl_set_text(table, easy, option, value) }

        // Since libcurl 7.87: at the deadline, a pending name resolution is abandoned instead of waited for.
        _ = number(CCURL_QUICK_EXIT, 1)
        // Since libcurl 7.85. Earlier versions use a bit mask (CURLPROTO_HTTP, CURLPROTO_HTTPS).
        let restricted = text(CCURL_PROTOCOLS_STR, url.scheme.rawValue)
        var codes = [restricted == 0 ? 0 : number(CCURL_PROTOCOLS, url.scheme == .https ? 2 : 1)]
        codes += [
            text(CCURL_URL, url.text), text(CCURL_USERAGENT, options.userAgent),
            // An empty text means no proxy, regardless of the environment.
            text(CCURL_PROXY, proxy ?? ""), text(CCURL_NOPROXY, ""), number(CCURL_SUPPRESS_CONNECT_HEADERS, 1),
            number(CCURL_SSL_VERIFYPEER, 1), number(CCURL_SSL_VERIFYHOST, 2), number(CCURL_SSLVERSION, 6),  // at least TLS 1.2
            number(CCURL_NOSIGNAL, 1), number(CCURL_NOPROGRESS, 0), number(CCURL_FOLLOWLOCATION, 0), number(CCURL_MAXCONNECTS, 4),
            number(CCURL_TIMEOUT_MS, milliseconds), number(CCURL_CONNECTTIMEOUT_MS, milliseconds),
            ccurl_set_headers(table, easy, lines),
        ]
        if let caFile = options.caFile {
            // The file replaces the system's bundle; the system's directory with the same certificates remains in use.
            codes += [text(CCURL_CAINFO, caFile), text(CCURL_CAPATH, "/etc/ssl/certs")]
        }
        switch request.method {
        case .GET: codes.append(number(CCURL_HTTPGET, 1))
        case .POST: codes += [number(CCURL_POST, 1), ccurl_set_body(table, easy, body.baseAddress ?? UnsafeRawPointer(table), body.count)]
        }
        return codes.first { $0 != 0 } ?? 0
    }

    private func headerLines() throws(HTTPFailure) -> OpaquePointer? {
        // A header without a value is removed by libcurl. This avoids waiting for "100 Continue".
        var lines = library.table.pointee.slist_append(nil, "Expect:")
        for (name, value) in request.headers {
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                library.table.pointee.slist_free_all(lines)
                throw failure(.malformedHeader(String(String.UnicodeScalarView(name.unicodeScalars.filter { $0.value > 0x20 }))))
            }
            // libcurl requires a semicolon instead of the colon for a header with an empty value.
            lines = library.table.pointee.slist_append(lines, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        return lines
    }

    private func failure(_ reason: HTTPFailure.Reason) -> HTTPFailure { HTTPFailure(reason, at: url.origin) }

    /// Maps a CURLcode (curl/curl.h) to a reason.
    private func reason(_ code: Int32, _ words: String) -> HTTPFailure.Reason {
        switch code {
        case 3: .malformedURL
        case 5: .proxyFailed
        case 6: .unresolvable
        case 7: proxy == nil ? .unreachable : .proxyFailed
        case 28: .timedOut(milliseconds: request.policy.timeoutMilliseconds)
        case 35: .encryption(words)
        case 56 where proxy != nil && words.includes("CONNECT"), 97: .proxyFailed
        case 51, 60: .certificate(words)
        case 77: .unreadableCertificateFile
        default: .protocolError(words.isEmpty ? "libcurl's code \(code)" : words)
        }
    }
}

/// RFC 9110 section 5.6.2.
private func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
