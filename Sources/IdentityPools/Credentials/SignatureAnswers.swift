import Contract

extension SignatureV4Failure {
    /// Returns the error of the contract for this failure.
    func answer(now: Int64) -> any Error {
        switch self {
        case .malformed(let reason): SignatureMalformed(reason: reason)
        case .scope(let part, let expected, let actual):
            CredentialScopeMismatch(part: .init(rawValue: part.rawValue)!, expected: expected, actual: actual)
        case .skewed(let signedAt, let maximum): RequestTimeTooSkewed(signedAt: signedAt, now: now, maximumSkewSeconds: maximum)
        case .expired(let signedAt, let expires): RequestExpired(signedAt: signedAt, expiresSeconds: expires, now: now)
        case .bodyHash: BodyHashMismatch()
        case .mismatch(let canonicalRequest, let stringToSign):
            SignatureMismatch(canonicalRequest: canonicalRequest, stringToSign: stringToSign)
        }
    }
}
