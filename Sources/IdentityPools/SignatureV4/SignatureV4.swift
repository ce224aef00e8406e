import Crypto
import Platform

/// Verifies AWS Signature Version 4 in the `Authorization` header or the query, in three pure functions: `parse` reads the signature,
/// `CanonicalRequest` builds the request that was signed, and `judge` compares. The order of the checks is in
/// Sources/IdentityPools/README.md, "Signature Version 4".
enum SignatureV4 {
    static let algorithm = "AWS4-HMAC-SHA256"

    /// Returns the maximum difference between the clocks of signer and verifier, in seconds. S3 allows more than other services.
    static func skewSeconds(_ scope: SignedHTTPRequest.Scope) -> Int64 { scope.isS3 ? 900 : 300 }

    struct Verdict: Sendable {
        /// Whether the signature covers the body hash that the caller has given.
        let bodyVerified: Bool
    }

    /// Verifies a request that was signed with `secret`.
    ///
    /// - Parameters:
    ///   - now: The current time, in seconds since 1970-01-01 UTC.
    ///   - service: The required service of the credential scope, or `nil` for any.
    ///   - region: The required region of the credential scope, or `nil` for any.
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

    /// Returns the signature of a request without a body.
    static func signature(of request: SignedHTTPRequest, secret: String) -> String {
        let canonical = CanonicalRequest.forms(of: request, payloadHash: BodyHash.empty)[0]
        return Hex.encode(HMAC.sha256(key: signingKey(secret, request.scope), Array(stringToSign(request, canonical).utf8)))
    }

    /// Replaces the session token for messages. A header contains it as is, a query contains it encoded.
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

/// The reason for rejecting a signature.
package enum SignatureV4Failure: Error, Hashable, Sendable {
    package enum Part: String, Sendable { case service, region, date }

    case malformed(String)
    case scope(part: Part, expected: String, actual: String)
    case skewed(signedAt: Int64, maximumSeconds: Int64)
    case expired(signedAt: Int64, expiresSeconds: Int64)
    /// The body does not match `x-amz-content-sha256`.
    case bodyHash
    case mismatch(canonicalRequest: String, stringToSign: String)

    /// The reason for rejecting Signature Version 2, which some SDKs use for S3 by default.
    package static let version2Reason = "Signature Version 2 is not supported; configure signature_version='s3v4'"
    static let version2 = malformed(version2Reason)
}
