import Platform

/// The contents of a signature, not verified.
package struct SignatureClaim {
    package let accessKeyId: String
    package let scope: SignedHTTPRequest.Scope
    let timestamp: String
    let signedHeaders: [String]
    let signature: String
    var expiresSeconds: Int64?
    var sessionToken: String?

    /// Parses the `Authorization` header: `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`.
    package init(headers: [(name: String, value: String)]) throws {
        let all = headers.filter { $0.name == "authorization" }
        guard let authorization = all.first?.value, all.count == 1 else {
            throw SignatureV4Failure.malformed(
                all.isEmpty ? "the Authorization header is missing" : "there are several Authorization headers")
        }
        if authorization.hasPrefix("AWS ") { throw SignatureV4Failure.version2 }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0] == SignatureV4.algorithm else {
            throw SignatureV4Failure.malformed("Authorization does not begin with \(SignatureV4.algorithm)")
        }
        var fields: [String: String] = [:]
        for field in words[1].split(separator: ",") {
            let pair = field.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, fields.updateValue(CanonicalRequest.trimmed(String(pair[1])), forKey: String(pair[0])) == nil else {
                throw SignatureV4Failure.malformed("Authorization has a duplicate field or a field without a value")
            }
        }
        guard let stamp = try Self.timestamp(headers) else { throw SignatureV4Failure.malformed("X-Amz-Date is missing") }
        timestamp = stamp
        (accessKeyId, scope) = try Self.credential(fields["Credential"])
        signedHeaders = try Self.names(fields["SignedHeaders"])
        signature = try Self.signature(fields["Signature"])
    }

    /// Returns whether URL parameters contain a Signature Version 2, of a presigned URL or a Query request.
    package static func isVersion2(query parameters: [(name: String, value: String)]) -> Bool {
        func has(_ name: String) -> Bool { parameters.contains { $0.name == name } }
        return has("AWSAccessKeyId") && has("Signature") && !has("X-Amz-Algorithm")
    }

    /// Parses the parameters of a presigned URL.
    package init(query parameters: [(name: String, value: String)]) throws {
        func only(_ name: String) throws -> String? {
            let values = parameters.filter { $0.name == name }
            guard values.count <= 1 else { throw SignatureV4Failure.malformed("the parameter \(name) occurs twice") }
            return values.first.map { String(decoding: PercentEncoding.decode($0.value), as: UTF8.self) }
        }
        guard try only("X-Amz-Algorithm") == SignatureV4.algorithm else {
            throw SignatureV4Failure.malformed("X-Amz-Algorithm must be \(SignatureV4.algorithm)")
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
            throw SignatureV4Failure.malformed(
                "the credential does not have the form <access key id>/<date>/<region>/<service>/aws4_request")
        }
        return (parts[0], .init(date: parts[1], region: parts[2], service: parts[3]))
    }

    private static func names(_ text: String?) throws -> [String] {
        let names = text?.lowercased().split(separator: ";").map { String($0) } ?? []
        guard !names.isEmpty, Set(names).count == names.count else {
            throw SignatureV4Failure.malformed("SignedHeaders is missing or contains a header twice")
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
