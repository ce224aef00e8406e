import Platform

/// An HTTP request with the contents of its signature, not verified.
package struct SignedHTTPRequest: Sendable {
    package struct Scope: Sendable, Hashable {
        let date: String
        let region: String
        package let service: String
        var text: String { "\(date)/\(region)/\(service)/aws4_request" }
        /// Whether the path is signed as it is sent, and the body of a presigned request is not signed.
        var isS3: Bool { ["s3", "s3-outposts", "s3-object-lambda", "s3express"].contains(service) }
    }

    let method: String
    let path: String
    /// The query parameters as written, without the signature itself.
    let parameters: [(name: String, value: String)]
    /// The headers, with lowercase names.
    let headers: [(name: String, value: String)]
    let bodySha256: String?
    let accessKeyId: String
    let scope: Scope
    /// The time in the form `YYYYMMDD'T'HHMMSS'Z'`.
    let timestamp: String
    let signedAt: Int64
    /// The signed headers, with lowercase names, in the order of the signature.
    let signedHeaders: [String]
    let signature: String
    /// The lifetime of a presigned request, in seconds, or `nil` if the signature is in a header.
    let expiresSeconds: Int64?
    let sessionToken: String?

    /// Returns the value of a header, with repeated headers joined, or `nil` if it is missing.
    func header(_ name: String) -> String? { Self.header(name, in: headers) }

    static func header(_ name: String, in headers: [(name: String, value: String)]) -> String? {
        let values = headers.filter { $0.name == name }.map { CanonicalRequest.trimmed($0.value) }
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// Returns the decoded value of a query parameter.
    func query(_ name: String) -> String? {
        parameters.first { $0.name == name }.map { String(decoding: PercentEncoding.decode($0.value), as: UTF8.self) }
    }

    /// Whether the query of a presigned request contains the session token.
    var tokenIsInQuery: Bool { expiresSeconds != nil && parameters.contains { $0.name == "X-Amz-Security-Token" } }
}

extension SignatureV4 {
    /// Parses a signed request.
    ///
    /// - Throws: `SignatureV4Failure.malformed`.
    static func parse(method: String, url: String, headers: [(String, String)], bodySha256: String?) throws -> SignedHTTPRequest {
        guard !url.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw SignatureV4Failure.malformed("the URL contains control characters")
        }
        guard isToken(method) else { throw SignatureV4Failure.malformed("the method is not a valid HTTP method") }
        let url = RequestURL(url)
        var headers = headers.map { (name: $0.0.lowercased(), value: $0.1) }
        if let bad = headers.first(where: { !isToken($0.name) }) {
            throw SignatureV4Failure.malformed("\(bad.name) is not a valid header name")
        }
        if headers.count(where: { $0.name == "host" }) > 1 { throw SignatureV4Failure.malformed("the host header occurs twice") }
        if let host = SignedHTTPRequest.header("host", in: headers), !url.isFor(hostHeader: host) {
            throw SignatureV4Failure.malformed("the URL and the host header contain different hosts")
        }
        if !headers.contains(where: { $0.name == "host" }), let host = url.host { headers.append(("host", host)) }
        if SignatureClaim.isVersion2(query: url.parameters) { throw SignatureV4Failure.version2 }
        let isPresigned = url.parameters.contains { $0.name == "X-Amz-Signature" || $0.name == "X-Amz-Algorithm" }
        if isPresigned, headers.contains(where: { $0.name == "authorization" }) {
            throw SignatureV4Failure.malformed("both the Authorization header and the query contain a signature")
        }
        let claim = isPresigned ? try SignatureClaim(query: url.parameters) : try SignatureClaim(headers: headers)
        guard let signedAt = AmzDate.seconds(claim.timestamp) else {
            throw SignatureV4Failure.malformed("X-Amz-Date does not have the form 20261121T120000Z")
        }
        let request = SignedHTTPRequest(
            method: method, path: url.path, parameters: url.parameters.filter { $0.name != "X-Amz-Signature" }, headers: headers,
            bodySha256: bodySha256, accessKeyId: claim.accessKeyId, scope: claim.scope, timestamp: claim.timestamp, signedAt: signedAt,
            signedHeaders: claim.signedHeaders, signature: claim.signature, expiresSeconds: claim.expiresSeconds,
            sessionToken: try sessionToken(claim, headers))
        try checkSignedHeaders(request)
        return request
    }

    private static func sessionToken(_ claim: SignatureClaim, _ headers: [(name: String, value: String)]) throws -> String? {
        let inHeader = SignedHTTPRequest.header("x-amz-security-token", in: headers)
        guard let inQuery = claim.sessionToken else { return inHeader }
        guard inHeader == nil else { throw SignatureV4Failure.malformed("both the headers and the query contain X-Amz-Security-Token") }
        return inQuery
    }

    /// Returns whether `text` is a token (RFC 9110 §5.6.2), as required of methods and header names.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
    }

    /// Checks that `host` and all `x-amz-*` headers are signed. The session token can be added after signing, as AWS services allow.
    private static func checkSignedHeaders(_ request: SignedHTTPRequest) throws {
        let signed = Set(request.signedHeaders)
        guard signed.contains("host") else { throw SignatureV4Failure.malformed("the host header is not signed") }
        for name in request.signedHeaders where request.header(name) == nil {
            throw SignatureV4Failure.malformed("the signed header \(name) is missing")
        }
        for (name, _) in request.headers where name.hasPrefix("x-amz-") && name != "x-amz-security-token" && !signed.contains(name) {
            throw SignatureV4Failure.malformed("the header \(name) is not signed")
        }
    }
}
