import CCurl
import Platform

/// One request to one URL, and its answer: a redirect is an answer here.
struct CurlExchange {
    private let request: HTTPRequest
    private let url: RequestURL
    private let options: CurlClient.Options
    private let library: CurlLibrary
    private let proxy: String?

    init(_ request: HTTPRequest, _ url: RequestURL, _ options: CurlClient.Options, _ library: CurlLibrary) {
        self.request = request
        self.url = url
        self.options = options
        self.library = library
        proxy = url.isLoopback ? nil : options.proxy
    }

    /// - Returns: the answer, and the URL it redirects to, if it does.
    func perform(_ easy: OpaquePointer, until deadline: UInt64) throws(HTTPFailure) -> (HTTPResponse, redirect: String?) {
        let lines = try headerLines()
        defer { library.table.pointee.slist_free_all(lines) }
        let now = Monotonic.nanoseconds()
        guard now < deadline else { throw failure(.timedOut(milliseconds: request.policy.timeoutMilliseconds)) }
        let milliseconds = Int((deadline - now + 999_999) / 1_000_000)
        let transfer = Transfer(request, scheme: url.scheme, goesThroughProxy: proxy != nil)

        // libcurl reads the body where it stands.
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

    /// Everything is set, for nothing may be left to an environment variable or to how libcurl was built.
    ///
    /// - Returns: the CURLcode of the first option that was refused, 0 if none was.
    private func configure(_ easy: OpaquePointer, _ lines: OpaquePointer?, _ body: UnsafeRawBufferPointer, milliseconds: Int) -> Int32 {
        let table = library.table
        func number(_ option: ccurl_number, _ value: Int) -> Int32 { ccurl_set_number(table, easy, option, value) }
        func text(_ option: ccurl_text, _ value: String) -> Int32 { ccurl_set_text(table, easy, option, value) }

        // Since libcurl 7.87: an unanswered name resolution is left behind at the deadline instead of waited for.
        _ = number(CCURL_QUICK_EXIT, 1)
        // Since 7.85; before, a bit mask says the same (CURLPROTO_HTTP, CURLPROTO_HTTPS).
        let restricted = text(CCURL_PROTOCOLS_STR, url.scheme)
        var codes = [restricted == 0 ? 0 : number(CCURL_PROTOCOLS, url.scheme == "https" ? 2 : 1)]
        codes += [
            text(CCURL_URL, url.text), text(CCURL_USERAGENT, options.userAgent),
            // An empty text means: none, whatever the environment says.
            text(CCURL_PROXY, proxy ?? ""), text(CCURL_NOPROXY, ""), number(CCURL_SUPPRESS_CONNECT_HEADERS, 1),
            number(CCURL_SSL_VERIFYPEER, 1), number(CCURL_SSL_VERIFYHOST, 2), number(CCURL_SSLVERSION, 6),  // TLS 1.2 at least
            number(CCURL_NOSIGNAL, 1), number(CCURL_NOPROGRESS, 0), number(CCURL_FOLLOWLOCATION, 0), number(CCURL_MAXCONNECTS, 4),
            number(CCURL_TIMEOUT_MS, milliseconds), number(CCURL_CONNECTTIMEOUT_MS, milliseconds),
            ccurl_set_headers(table, easy, lines),
        ]
        if let caFile = options.caFile {
            // The file takes the place of the system's bundle; the system's folder of the same certificates stays.
            codes += [text(CCURL_CAINFO, caFile), text(CCURL_CAPATH, "/etc/ssl/certs")]
        }
        switch request.method {
        case .GET: codes.append(number(CCURL_HTTPGET, 1))
        case .POST: codes += [number(CCURL_POST, 1), ccurl_set_body(table, easy, body.baseAddress ?? UnsafeRawPointer(table), body.count)]
        }
        return codes.first { $0 != 0 } ?? 0
    }

    private func headerLines() throws(HTTPFailure) -> OpaquePointer? {
        // Without a value libcurl leaves out a header it would add: no waiting for "100 Continue".
        var lines = library.table.pointee.slist_append(nil, "Expect:")
        for (name, value) in request.headers {
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                library.table.pointee.slist_free_all(lines)
                throw failure(.malformedHeader(String(String.UnicodeScalarView(name.unicodeScalars.filter { $0.value > 0x20 }))))
            }
            // A header with an empty value is written with a semicolon.
            lines = library.table.pointee.slist_append(lines, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        return lines
    }

    private func failure(_ reason: HTTPFailure.Reason) -> HTTPFailure { HTTPFailure(reason, at: url.origin) }

    /// What a CURLcode (curl/curl.h) means.
    private func reason(_ code: Int32, _ words: String) -> HTTPFailure.Reason {
        switch code {
        case 3: .malformedURL
        case 5: .proxyFailed
        case 6: .unresolvable
        case 7: proxy == nil ? .unreachable : .proxyFailed
        case 28: .timedOut(milliseconds: request.policy.timeoutMilliseconds)
        case 35: .encryption(words)
        case 56 where proxy != nil && words.contains("CONNECT"), 97: .proxyFailed
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
