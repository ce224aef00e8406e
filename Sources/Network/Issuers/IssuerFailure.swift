/// The reason the keys of an issuer are unavailable. `reason` is text for the user.
public struct IssuerFailure: Error, Hashable, Sendable {
    /// The check that failed.
    public enum Check: String, Hashable, Sendable {
        /// There was no response, or one with a temporary error.
        case unavailable
        /// The URL of the issuer, or one in its document, is not allowed.
        case address
        /// The TLS connection failed, or the certificate was rejected.
        case certificate
        /// The response is a redirect that is not followed.
        case redirect
        /// The response exceeds the size limit.
        case tooLarge
        /// The response has an error status.
        case status
        /// The response is not a JSON object, or lacks required members.
        case document
        /// The document belongs to another issuer.
        case issuer
        /// The keys are not usable, or are ambiguous.
        case keys
        /// The caller canceled the request.
        case cancelled
    }

    public let check: Check
    /// One or two sentences.
    public let reason: String

    public init(_ check: Check, _ reason: String) {
        self.check = check
        self.reason = reason
    }

    /// Maps the failure of an HTTP request to a failure of the issuer.
    public init(_ failure: HTTPFailure) {
        let check: Check =
            switch failure.reason {
            case .libraryMissing, .unresolvable, .unreachable, .proxyFailed, .timedOut, .protocolError: .unavailable
            case .malformedURL, .credentialsInURL, .malformedHeader, .schemeNotAllowed, .privateAddress: .address
            case .certificate, .unreadableCertificateFile, .encryption: .certificate
            case .redirectRefused, .tooManyRedirects: .redirect
            case .tooLarge: .tooLarge
            case .cancelled: .cancelled
            }
        self.init(check, failure.description)
    }

    /// Maps a status other than 200 to a failure of the issuer.
    public init(status: Int, to what: String) {
        // 408 and 429 ask for a later attempt; 5xx are errors of the server itself.
        let isTemporary = status == 429 || status == 408 || status >= 500
        self.init(isTemporary ? .unavailable : .status, "The server returned HTTP \(status) for \(what).")
    }
}
