/// Why an issuer's keys are not there. Its sentence is for people.
public struct IssuerFailure: Error, Hashable, Sendable {
    /// What went wrong.
    public enum Check: String, Hashable, Sendable {
        /// There was no answer, or one that says "later".
        case unavailable
        /// Its URL, or one its document names, is none that may be asked.
        case address
        /// No encrypted connection came about, or its certificate is refused.
        case certificate
        /// It redirects to where nobody follows.
        case redirect
        /// It answers more than is read.
        case tooLarge
        /// It answers with a status of failure.
        case status
        /// What it answers is no JSON object, or lacks what must be there.
        case document
        /// Its document is another issuer's.
        case issuer
        /// Its keys cannot be used, or told apart.
        case keys
        /// Whoever asked gave up.
        case cancelled
    }

    public let check: Check
    /// One or two sentences.
    public let reason: String

    public init(_ check: Check, _ reason: String) {
        self.check = check
        self.reason = reason
    }

    /// What it means for an issuer that a request got no answer.
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

    /// What it means for an issuer that it answers with a status other than 200.
    public init(status: Int, to what: String) {
        // Too many requests, and what servers say of themselves.
        let isTemporary = status == 429 || status == 408 || status >= 500
        self.init(isTemporary ? .unavailable : .status, "The server returned HTTP \(status) for \(what).")
    }
}
