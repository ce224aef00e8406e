import Contract

extension WireError {
    /// Creates the error that AWS STS returns in place of `error`.
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
        case is TokenKeyUnknown:
            self.init("InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider")
        case is TokenAlgorithmNotAllowed, is TokenSignatureInvalid:
            self.init("InvalidIdentityToken", "Couldn't verify signed token.")
        case let error as TokenIssuerMismatch:
            self.init("InvalidIdentityToken", "No OpenIDConnect provider found in your account for \(error.actual)")
        case is TokenAudienceMismatch: self.init("InvalidIdentityToken", "Incorrect token audience")
        case is TokenNotYetValid, is TokenUseMismatch, is ProviderUnusable: self.init("InvalidIdentityToken", error.message)
        // SDKs try again after this error, and after no other error of a token.
        case is ProviderUnavailable: self.init("IDPCommunicationError", error.message)
        case let error as TokenClaimRejected where Self.isOfTimeOrTags(error.claim): self.init("InvalidIdentityToken", error.message)
        case is TokenRevoked, is TokenReplayed, is TokenClaimRejected, is AccountMerged:
            self.init("IDPRejectedClaim", error.message, status: 403)
        case let error as AssumeRoleDenied: self.init("AccessDenied", "Not authorized to perform \(error.action)", status: 403)
        case is OutboundFederationDisabled:
            self.init("OutboundWebIdentityFederationDisabledException", error.message, status: 403)
        case is SessionDurationEscalation: self.init("SessionDurationEscalationException", error.message, status: 403)
        case is TokenPayloadTooLarge: self.init("JWTPayloadSizeExceededException", error.message)
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
        case is TooManyRequests: self.init("Throttling", "Rate exceeded")
        default: self.init("InternalFailure", error.message, status: 500)
        }
    }

    /// Whether AWS rejects the whole token because of a claim, not the claim alone.
    private static func isOfTimeOrTags(_ claim: String) -> Bool {
        ["exp", "iat"].contains(claim) || claim.hasPrefix("https://aws.amazon.com/")
    }

    /// Creates the error that AWS STS returns in place of an injected error. Only its type is translated; the message is that of the
    /// method.
    init(sts error: ChosenError) {
        switch error.type {
        case InvalidParams.type, DurationExceedsRoleMaximum.type: self.init("ValidationError", error.message)
        case TokenExpired.type: self.init("ExpiredTokenException", error.message)
        case TokenMalformed.type, TokenAlgorithmNotAllowed.type, TokenKeyUnknown.type, TokenSignatureInvalid.type,
            TokenIssuerMismatch.type, TokenAudienceMismatch.type, TokenNotYetValid.type, TokenUseMismatch.type, ProviderUnusable.type:
            self.init("InvalidIdentityToken", error.message)
        case ProviderUnavailable.type: self.init("IDPCommunicationError", error.message)
        case TokenRevoked.type, TokenReplayed.type, TokenClaimRejected.type:
            self.init("IDPRejectedClaim", error.message, status: 403)
        case AssumeRoleDenied.type, CredentialsRevoked.type: self.init("AccessDenied", error.message, status: 403)
        case OutboundFederationDisabled.type: self.init("OutboundWebIdentityFederationDisabledException", error.message, status: 403)
        case SessionDurationEscalation.type: self.init("SessionDurationEscalationException", error.message, status: 403)
        case TokenPayloadTooLarge.type: self.init("JWTPayloadSizeExceededException", error.message)
        case MalformedPolicy.type: self.init("MalformedPolicyDocument", error.message)
        case PackedPolicyTooLarge.type: self.init("PackedPolicyTooLarge", error.message)
        case SessionTokenInvalid.type, RoleNotFound.type: self.init("InvalidClientTokenId", error.message, status: 403)
        case CredentialsExpired.type: self.init("ExpiredToken", error.message, status: 403)
        case SignatureMismatch.type, CredentialScopeMismatch.type, RequestExpired.type, RequestTimeTooSkewed.type, BodyHashMismatch.type:
            self.init("SignatureDoesNotMatch", error.message, status: 403)
        case SignatureMalformed.type: self.init("IncompleteSignature", error.message, status: 403)
        case TooManyRequests.type: self.init("Throttling", error.message)
        default: self.init("InternalFailure", error.message, status: 500)
        }
    }
}
