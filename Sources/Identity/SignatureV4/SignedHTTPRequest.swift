/// An HTTP request with what its signature claims of it. Nothing of it is checked yet.
struct SignedHTTPRequest: Sendable {
    struct Scope: Sendable, Hashable {
        let date: String
        let region: String
        let service: String
        var text: String { "\(date)/\(region)/\(service)/aws4_request" }
    }

    let method: String
    let path: String
    /// The query's parameters as they were written, without the signature itself.
    let parameters: [(name: String, value: String)]
    /// Names in lower case.
    let headers: [(name: String, value: String)]
    let bodySha256: String?
    let accessKeyId: String
    let scope: Scope
    /// `YYYYMMDD'T'HHMMSS'Z'`.
    let timestamp: String
    let signedAt: Int64
    /// In lower case, in the order in which they were signed.
    let signedHeaders: [String]
    let signature: String
    /// How long a presigned request is valid; nil when the signature stands in a header.
    let expiresSeconds: Int64?
    let sessionToken: String?

    /// The header's value, several of one name joined; nil without one.
    func header(_ name: String) -> String? { Self.header(name, in: headers) }

    static func header(_ name: String, in headers: [(name: String, value: String)]) -> String? {
        let values = headers.filter { $0.name == name }.map { CanonicalRequest.trimmed($0.value) }
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// The decoded value of a query parameter.
    func query(_ name: String) -> String? { parameters.first { $0.name == name }.map { PercentEncoding.decode($0.value) } }
}

extension SignatureV4 {
    /// Reads a signed request.
    ///
    /// - Throws: `SignatureV4Failure.malformed`.
    static func parse(method: String, url: String, headers: [(String, String)], bodySha256: String?) throws -> SignedHTTPRequest {
        let url = RequestURL(url)
        var headers = headers.map { (name: $0.0.lowercased(), value: $0.1) }
        if !headers.contains(where: { $0.name == "host" }), let host = url.host { headers.append(("host", host)) }
        let isPresigned = url.parameters.contains { $0.name == "X-Amz-Signature" || $0.name == "X-Amz-Algorithm" }
        let claim = isPresigned ? try Claim(query: url.parameters) : try Claim(headers: headers)
        guard let signedAt = AmzDate.seconds(claim.timestamp) else {
            throw SignatureV4Failure.malformed("X-Amz-Date is not of the form 20261121T120000Z")
        }
        let request = SignedHTTPRequest(
            method: method, path: url.path, parameters: url.parameters.filter { $0.name != "X-Amz-Signature" }, headers: headers,
            bodySha256: bodySha256, accessKeyId: claim.accessKeyId, scope: claim.scope, timestamp: claim.timestamp, signedAt: signedAt,
            signedHeaders: claim.signedHeaders, signature: claim.signature, expiresSeconds: claim.expiresSeconds,
            sessionToken: claim.sessionToken ?? SignedHTTPRequest.header("x-amz-security-token", in: headers))
        try checkSignedHeaders(request)
        return request
    }

    /// `host` must be signed, and so must every x-amz header that is there; but the session token may be added afterwards, as
    /// services allow.
    private static func checkSignedHeaders(_ request: SignedHTTPRequest) throws {
        let signed = Set(request.signedHeaders)
        guard signed.contains("host") else { throw SignatureV4Failure.malformed("the header host is not signed") }
        for name in request.signedHeaders where request.header(name) == nil {
            throw SignatureV4Failure.malformed("the header \(name) is signed and not there")
        }
        for (name, _) in request.headers where name.hasPrefix("x-amz-") && name != "x-amz-security-token" && !signed.contains(name) {
            throw SignatureV4Failure.malformed("the header \(name) is not signed")
        }
    }
}

/// What a signature says of itself.
private struct Claim {
    let accessKeyId: String
    let scope: SignedHTTPRequest.Scope
    let timestamp: String
    let signedHeaders: [String]
    let signature: String
    var expiresSeconds: Int64?
    var sessionToken: String?

    /// From the Authorization header: `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`.
    init(headers: [(name: String, value: String)]) throws {
        let all = headers.filter { $0.name == "authorization" }
        guard let authorization = all.first?.value, all.count == 1 else {
            throw SignatureV4Failure.malformed(all.isEmpty ? "there is no Authorization header" : "there are several Authorization headers")
        }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0] == SignatureV4.algorithm else {
            throw SignatureV4Failure.malformed("Authorization does not begin with \(SignatureV4.algorithm)")
        }
        var fields: [String: String] = [:]
        for field in words[1].split(separator: ",") {
            let pair = field.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, fields.updateValue(CanonicalRequest.trimmed(String(pair[1])), forKey: String(pair[0])) == nil else {
                throw SignatureV4Failure.malformed("Authorization has a field that is doubled or has no value")
            }
        }
        guard let stamp = try Self.timestamp(headers) else { throw SignatureV4Failure.malformed("X-Amz-Date is missing") }
        timestamp = stamp
        (accessKeyId, scope) = try Self.credential(fields["Credential"])
        signedHeaders = try Self.names(fields["SignedHeaders"])
        signature = try Self.signature(fields["Signature"])
    }

    /// From the parameters of a presigned URL.
    init(query parameters: [(name: String, value: String)]) throws {
        func only(_ name: String) throws -> String? {
            let values = parameters.filter { $0.name == name }
            guard values.count <= 1 else { throw SignatureV4Failure.malformed("the parameter \(name) stands there twice") }
            return values.first.map { PercentEncoding.decode($0.value) }
        }
        guard try only("X-Amz-Algorithm") == SignatureV4.algorithm else {
            throw SignatureV4Failure.malformed("X-Amz-Algorithm is not \(SignatureV4.algorithm)")
        }
        guard let expires = try only("X-Amz-Expires").flatMap({ Int64($0) }), 1...604_800 ~= expires else {
            throw SignatureV4Failure.malformed("X-Amz-Expires is missing or not between 1 and 604800")
        }
        guard let stamp = try only("X-Amz-Date") else { throw SignatureV4Failure.malformed("X-Amz-Date is missing") }
        timestamp = stamp
        (accessKeyId, scope) = try Self.credential(try only("X-Amz-Credential"))
        signedHeaders = try Self.names(try only("X-Amz-SignedHeaders"))
        signature = try Self.signature(try only("X-Amz-Signature"))
        expiresSeconds = expires
        sessionToken = try only("X-Amz-Security-Token")
    }

    private static func timestamp(_ headers: [(name: String, value: String)]) throws -> String? {
        if let date = SignedHTTPRequest.header("x-amz-date", in: headers) { return date }
        return SignedHTTPRequest.header("date", in: headers).flatMap { AmzDate.fromHTTPDate($0) }
    }

    private static func credential(_ text: String?) throws -> (String, SignedHTTPRequest.Scope) {
        let parts = text?.split(separator: "/", omittingEmptySubsequences: false).map { String($0) } ?? []
        guard parts.count == 5, parts[4] == "aws4_request", parts[..<4].allSatisfy({ !$0.isEmpty }) else {
            throw SignatureV4Failure.malformed("the credential is not <access key id>/<date>/<region>/<service>/aws4_request")
        }
        return (parts[0], .init(date: parts[1], region: parts[2], service: parts[3]))
    }

    private static func names(_ text: String?) throws -> [String] {
        let names = text?.lowercased().split(separator: ";").map { String($0) } ?? []
        guard !names.isEmpty, Set(names).count == names.count else {
            throw SignatureV4Failure.malformed("SignedHeaders is missing or names a header twice")
        }
        return names
    }

    private static func signature(_ text: String?) throws -> String {
        guard let text, text.utf8.count == 64, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }) else {
            throw SignatureV4Failure.malformed("the signature is not 64 hexadecimal digits")
        }
        return text
    }
}
