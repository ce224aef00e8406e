import Contract

extension WireError {
    /// What STS says where one of our methods says `error` (cognito.md 2.3, 2.4, 3.8).
    init(sts error: any ContractError) {
        switch error {
        case let error as InvalidParams: self.init("ValidationError", error.violations.map(\.message).joined(separator: " "))
        case let error as TokenExpired:
            self.init(
                "ExpiredTokenException",
                "Token expired: current date/time \(error.now) must be before the expiration date/time \(error.expiredAt)")
        case is TokenMalformed:
            self.init(
                "InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
        case is TokenAlgorithmNotAllowed, is TokenKeyUnknown, is TokenSignatureInvalid:
            self.init("InvalidIdentityToken", "Couldn't verify signed token.")
        case is TokenIssuerMismatch, is TokenAudienceMismatch, is TokenNotYetValid, is TokenUseMismatch:
            self.init("InvalidIdentityToken", error.message)
        case is TokenRevoked: self.init("IDPRejectedClaim", error.message, status: 403)
        case let error as AssumeRoleDenied: self.init("AccessDenied", "Not authorized to perform \(error.action)", status: 403)
        case is DurationExceedsRoleMaximum:
            self.init("ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
        case is MalformedPolicy: self.init("MalformedPolicyDocument", error.message)
        case let error as PackedPolicyTooLarge:
            self.init("PackedPolicyTooLarge", "Packed size of session tags consumes \(error.percent)% of allotted space.")
        case is SessionTokenInvalid, is RoleNotFound:
            self.init("InvalidClientTokenId", "The security token included in the request is invalid.", status: 403)
        case is CredentialsExpired: self.init("ExpiredToken", "The security token included in the request is expired", status: 403)
        case is CredentialsRevoked: self.init("AccessDenied", error.message, status: 403)
        case is SignatureMismatch, is CredentialScopeMismatch, is RequestExpired, is RequestTimeTooSkewed, is BodyHashMismatch:
            self.init("SignatureDoesNotMatch", error.message, status: 403)
        case is SignatureMalformed: self.init("IncompleteSignature", error.message, status: 403)
        default: self.init("InternalFailure", error.message, status: 500)
        }
    }
}
