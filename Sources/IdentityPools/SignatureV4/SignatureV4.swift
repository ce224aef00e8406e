import Crypto
import Platform

/// Checks AWS Signature Version 4, in the Authorization header or in the query string. Three steps, each a pure function:
/// `parse` reads what the signer claims, `CanonicalRequest` writes the request as the signer must have, `judge` compares.
enum SignatureV4 {
    static let algorithm = "AWS4-HMAC-SHA256"

    /// How far the clocks of signer and verifier may be apart, in seconds; S3 allows more than other services.
    static func skewSeconds(_ scope: SignedHTTPRequest.Scope) -> Int64 { scope.isS3 ? 900 : 300 }

    struct Verdict: Sendable {
        /// Whether the signature covers a body hash that the caller has given.
        let bodyVerified: Bool
    }

    /// Judges a request that `secret` should have signed.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - service, region: what the credential scope must name, if anything.
    /// - Throws: `SignatureV4Failure`.
    static func judge(_ request: SignedHTTPRequest, secret: String, now: Int64, service: String?, region: String?) throws -> Verdict {
        try checkScope(request, service: service, region: region)
        try checkTime(request, now: now)
        let body = try BodyHash(of: request)
        let key = signingKey(secret, request.scope)
        let forms = CanonicalRequest.forms(of: request, payloadHash: body.text)
        let matches = forms.map { form in
            constantTimeEquals(Hex.encode(HMAC.sha256(key: key, Array(stringToSign(request, form).utf8))), request.signature)
        }
        guard matches.contains(true) else {
            throw SignatureV4Failure.mismatch(
                canonicalRequest: withoutSessionToken(forms[0], of: request), stringToSign: stringToSign(request, forms[0]))
        }
        return Verdict(bodyVerified: body.isGiven)
    }

    /// The signature that `secret` makes of a request without a body.
    static func signature(of request: SignedHTTPRequest, secret: String) -> String {
        let canonical = CanonicalRequest.forms(of: request, payloadHash: BodyHash.empty)[0]
        return Hex.encode(HMAC.sha256(key: signingKey(secret, request.scope), Array(stringToSign(request, canonical).utf8)))
    }

    /// For people: the token stands in a header as it is and in a query encoded.
    private static func withoutSessionToken(_ form: String, of request: SignedHTTPRequest) -> String {
        guard let token = request.sessionToken, !token.isEmpty else { return form }
        let written = request.parameters.filter { $0.name == "X-Amz-Security-Token" }.map(\.value)
        return ([token, PercentEncoding.encode(token)] + written).reduce(form) { form, token in
            token.isEmpty ? form : form.replacing(token, with: "***")
        }
    }

    private static func stringToSign(_ request: SignedHTTPRequest, _ canonical: String) -> String {
        [algorithm, request.timestamp, request.scope.text, Hex.encode(Hash.sha256(Array(canonical.utf8)))].joined(separator: "\n")
    }

    private static func signingKey(_ secret: String, _ scope: SignedHTTPRequest.Scope) -> [UInt8] {
        var key = Array("AWS4\(secret)".utf8)
        for part in [scope.date, scope.region, scope.service, "aws4_request"] { key = HMAC.sha256(key: key, Array(part.utf8)) }
        return key
    }

    private static func checkScope(_ request: SignedHTTPRequest, service: String?, region: String?) throws {
        let scope = request.scope
        if let service, service != scope.service {
            throw SignatureV4Failure.scope(part: .service, expected: service, actual: scope.service)
        }
        if let region, region != scope.region { throw SignatureV4Failure.scope(part: .region, expected: region, actual: scope.region) }
        let day = String(request.timestamp.prefix(8))
        if day != scope.date { throw SignatureV4Failure.scope(part: .date, expected: day, actual: scope.date) }
    }

    private static func checkTime(_ request: SignedHTTPRequest, now: Int64) throws {
        let skew = skewSeconds(request.scope)
        let signedAt = request.signedAt
        guard let expires = request.expiresSeconds else {
            if abs(now - signedAt) > skew { throw SignatureV4Failure.skewed(signedAt: signedAt, maximumSeconds: skew) }
            return
        }
        if signedAt > now + skew { throw SignatureV4Failure.skewed(signedAt: signedAt, maximumSeconds: skew) }
        if now > signedAt + expires { throw SignatureV4Failure.expired(signedAt: signedAt, expiresSeconds: expires) }
    }
}

/// Why a signature is not accepted.
package enum SignatureV4Failure: Error, Hashable, Sendable {
    package enum Part: String, Sendable { case service, region, date }

    case malformed(String)
    case scope(part: Part, expected: String, actual: String)
    case skewed(signedAt: Int64, maximumSeconds: Int64)
    case expired(signedAt: Int64, expiresSeconds: Int64)
    /// The body is not the one that x-amz-content-sha256 names.
    case bodyHash
    case mismatch(canonicalRequest: String, stringToSign: String)

    /// The reason that is given for a signature of version 2, which some SDKs still make for S3 unless they are told otherwise.
    package static let version2Reason = "Signature Version 2 is not supported; configure signature_version='s3v4'"
    static let version2 = malformed(version2Reason)
}
