import Platform

/// The hash of the body that the signature covers.
struct BodyHash {
    /// The value in the canonical request.
    let text: String
    /// Whether it is the hash that the caller has given.
    let isGiven: Bool

    private static let unsigned = "UNSIGNED-PAYLOAD"
    static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// The value of `x-amz-content-sha256` takes precedence. Without it, a presigned S3 request has no body hash. Other requests use the
    /// given hash, or the hash of an empty body.
    ///
    /// - Throws: `SignatureV4Failure.bodyHash` if the header and the given hash differ; `malformed` if the header is neither a hash nor a
    ///   marker.
    init(of request: SignedHTTPRequest) throws {
        let named = request.header("x-amz-content-sha256") ?? request.query("X-Amz-Content-Sha256")
        let given = request.bodySha256?.lowercased()
        guard let named else {
            let isUnsigned = request.expiresSeconds != nil && request.scope.isS3
            text = isUnsigned ? Self.unsigned : given ?? Self.empty
            isGiven = !isUnsigned && given != nil
            return
        }
        let isHash = named.utf8.count == 64 && Hex.decode(named) != nil
        guard isHash || named == Self.unsigned || named.hasPrefix("STREAMING-") else {
            throw SignatureV4Failure.malformed("x-amz-content-sha256 must be a SHA-256, UNSIGNED-PAYLOAD or STREAMING-…")
        }
        if isHash, let given, named.lowercased() != given { throw SignatureV4Failure.bodyHash }
        text = named
        isGiven = isHash && given != nil
    }
}
