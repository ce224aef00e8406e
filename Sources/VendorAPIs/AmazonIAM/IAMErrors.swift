import Contract

extension WireError {
    /// Creates the error that AWS IAM returns in place of `error`.
    init(iam error: any ContractError) {
        switch error {
        case let error as InvalidParams: self.init("ValidationError", error.violations.map(\.message).joined(separator: " "))
        case let error as InvalidTrustedIssuer: self.init("InvalidInput", error.reason)
        case is TooManyTrustedIssuers: self.init("LimitExceeded", error.message, status: 409)
        case let error as TrustedIssuerNotFound:
            self.init("NoSuchEntity", "OpenIDConnect Provider not found for arn \(error.issuer)", status: 404)
        case let error as RoleNotFound: self.init("NoSuchEntity", "The role with name \(error.role) cannot be found.", status: 404)
        case is MalformedPolicy: self.init("MalformedPolicyDocument", error.message)
        case is InvalidCursor: self.init("ValidationError", "The Marker is not valid. Use the Marker of the previous response.")
        case is TooManyRequests: self.init("Throttling", "Rate exceeded")
        default: self.init("ServiceFailure", error.message, status: 500)
        }
    }

    /// Creates the error that AWS IAM returns in place of an injected error. Only its type is translated.
    init(iam error: ChosenError) {
        switch error.type {
        case InvalidParams.type, InvalidCursor.type: self.init("ValidationError", error.message)
        case InvalidTrustedIssuer.type: self.init("InvalidInput", error.message)
        case TooManyTrustedIssuers.type: self.init("LimitExceeded", error.message, status: 409)
        case TrustedIssuerNotFound.type, RoleNotFound.type: self.init("NoSuchEntity", error.message, status: 404)
        case MalformedPolicy.type: self.init("MalformedPolicyDocument", error.message)
        case TooManyRequests.type: self.init("Throttling", error.message)
        default: self.init("ServiceFailure", error.message, status: 500)
        }
    }
}
