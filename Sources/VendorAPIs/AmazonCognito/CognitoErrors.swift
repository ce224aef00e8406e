import Contract

extension WireError {
    /// Creates the error that Amazon Cognito returns in place of `error`.
    init(cognito error: any ContractError) {
        let (code, message) =
            Self.notAuthorized(error) ?? Self.notFound(error) ?? Self.invalid(error) ?? Self.conflict(error) ?? Self.other(error)
        self.init(code, message, status: code == "InternalErrorException" ? 500 : 400)
    }

    /// Creates the error that Amazon Cognito returns in place of an injected error. Only its type is translated; the message is that of the
    /// method.
    init(cognito error: ChosenError) {
        let code = Self.codes.first { $0.value.contains(error.type) }?.key ?? Self.code(ofBlock: error.code)
        self.init(code, error.message, status: code == "InternalErrorException" ? 500 : 400)
    }

    /// The types of errors by Cognito error code, for types whose code does not follow from their block.
    private static let codes: [String: Set<String>] = [
        "NotAuthorizedException": [
            UnauthenticatedNotAllowed.type, IdentityDisabled.type, IdentityForbidden.type, LoginsDoNotMatch.type, PoolTokenNotAccepted.type,
            UnsupportedLoginProvider.type, LegacyProviderNotSupported.type, LoginTokenInvalid.type, TokenExpired.type, TokenMalformed.type,
            TokenAlgorithmNotAllowed.type, TokenKeyUnknown.type, TokenSignatureInvalid.type, TokenIssuerMismatch.type,
            TokenUseMismatch.type,
            TokenNotYetValid.type, TokenRevoked.type, AmbiguousRoleDenied.type, RoleNotFound.type, RoleNotOffered.type,
            CredentialsRevoked.type, CallerNotAllowed.type,
        ],
        "ResourceNotFoundException": [
            PoolNotFound.type, IdentityNotFound.type, DeveloperUserNotFound.type, PrincipalTagsNotFound.type,
        ],
        "InvalidParameterException": [InvalidParams.type, InvalidCursor.type],
        "InvalidIdentityPoolConfigurationException": [RoleNotConfigured.type],
        "ResourceConflictException": [LoginConflict.type, PoolExists.type],
        "DeveloperUserAlreadyRegisteredException": [DeveloperUserAlreadyRegistered.type],
        "TooManyRequestsException": [TooManyRequests.type],
    ]

    private static func code(ofBlock code: Int) -> String {
        switch code / 1000 {
        case 2, 3: "InvalidParameterException"
        case 6: "ExternalServiceException"
        default: "InternalErrorException"
        }
    }

    /// Returns the code for the block of the error, for errors without a message of the service.
    private static func other(_ error: any ContractError) -> (String, String) {
        (code(ofBlock: error.code), error.message)
    }

    private static func notAuthorized(_ error: any ContractError) -> (String, String)? {
        let message: String
        switch error {
        case is UnauthenticatedNotAllowed: message = "Unauthenticated access is not supported for this identity pool."
        case let error as IdentityDisabled: message = "Access to Identity '\(error.identityId)' is forbidden."
        case let error as IdentityForbidden: message = "Access to Identity '\(error.identityId)' is forbidden."
        case is LoginsDoNotMatch:
            message = "Logins don't match. Please include at least one valid login for this identity or identity pool."
        case is PoolTokenNotAccepted: message = "Invalid login token. Can't pass in a Cognito token."
        case is UnsupportedLoginProvider, is LegacyProviderNotSupported:
            message = "Token is not from a supported provider of this identity pool."
        case let error as LoginTokenInvalid: message = loginToken(error)
        case let error as TokenExpired: message = "Invalid login token. Token expired: \(error.now) >= \(error.expiredAt)"
        case is TokenMalformed, is TokenAlgorithmNotAllowed, is TokenKeyUnknown, is TokenSignatureInvalid, is TokenIssuerMismatch,
            is TokenUseMismatch, is TokenNotYetValid:
            message = "Invalid login token. Couldn't verify signed token."
        case is TokenRevoked: message = error.message
        case let error as AmbiguousRoleDenied: message = "The ambiguous role mapping rules for: \(error.provider) denied this request."
        case let error as RoleNotFound: message = "Access to Role '\(error.role)' is forbidden."
        case let error as RoleNotOffered: message = "Access to Role '\(error.roleArn)' is forbidden."
        case is CredentialsRevoked, is CallerNotAllowed: message = error.message
        default: return nil
        }
        return ("NotAuthorizedException", message)
    }

    /// Returns a message that clients of the service recognize. Details that the service does not return are omitted.
    private static func loginToken(_ error: LoginTokenInvalid) -> String {
        switch error.check {
        case "signature", "malformed": "Invalid login token. Couldn't verify signed token."
        case "audience" where !error.reason.hasPrefix("Missing"): "Token is not from a supported provider of this identity pool."
        default: "Invalid login token. \(error.reason)"
        }
    }

    private static func notFound(_ error: any ContractError) -> (String, String)? {
        let message: String
        switch error {
        case let error as PoolNotFound: message = "IdentityPool '\(error.poolId)' not found."
        case let error as IdentityNotFound: message = "Identity '\(error.identityId)' not found."
        case is DeveloperUserNotFound: message = "Developer user identifier not found."
        case let error as PrincipalTagsNotFound: message = "No principal tag attribute map for '\(error.provider)' found."
        default: return nil
        }
        return ("ResourceNotFoundException", message)
    }

    private static func invalid(_ error: any ContractError) -> (String, String)? {
        let message: String
        switch error {
        case let error as InvalidParams: message = error.violations.map(\.message).joined(separator: " ")
        case is PublicProviderRequired: message = "Please provide a valid public provider"
        case is ClassicFlowDisabled: message = "Basic (classic) flow is not enabled, please use enhanced flow."
        case is UnsupportedDeveloperProvider: message = "This identity pool does not support the specified developer provider"
        case let error as InvalidRoleMapping: message = "\(error.provider): \(error.reason)"
        case is InvalidCursor: message = "Invalid NextToken"
        case is DeveloperProviderFixed: message = "The DeveloperProviderName of an identity pool cannot be changed."
        case is InvalidLogin, is InvalidPrincipalTags, is SamlNotSupported, is LoginNotLinked, is InvalidPoolProvider, is TooManyTags:
            message = error.message
        case is RoleNotConfigured: return (WireError.poolConfiguration.code, WireError.poolConfiguration.message)
        default: return nil
        }
        return ("InvalidParameterException", message)
    }

    private static func conflict(_ error: any ContractError) -> (String, String)? {
        switch error {
        case is LoginConflict, is PoolExists: ("ResourceConflictException", error.message)
        case is DeveloperUserAlreadyRegistered: ("DeveloperUserAlreadyRegisteredException", error.message)
        case is TooManyRequests: ("TooManyRequestsException", error.message)
        default: nil
        }
    }
}
