import Accounts
import Contract
import JSON

/// An error in the format of the API.
struct EntraError: Error {
    let error: String
    private(set) var codes: [Int64]
    private(set) var message: String
    var suberror: String?
    var status: Int64 = 400
    var retryAfterSeconds: Int64?
    /// Further members, such as the continuation token.
    var more = JSONObject()

    init(_ error: String, _ code: Int64, _ message: String, suberror: String? = nil, status: Int64 = 400) {
        self.error = error
        codes = [code]
        self.message = message
        self.suberror = suberror
        self.status = status
    }

    /// Returns this error with the token of the next step.
    ///
    /// - Parameter more: Further members.
    func continued(with token: String, more: JSONObject = [:]) -> EntraError {
        var error = self
        error.more = more
        error.more["continuation_token"] = .string(token)
        return error
    }

    var body: JSONObject {
        var body: JSONObject = ["error": .string(error), "error_codes": .array(codes.map { .number(JSONNumber($0)) })]
        body["suberror"] = suberror.map { .string($0) }
        for (name, value) in more.members { body[name] = value }
        return body
    }

    static func unknownTenant(_ id: String) -> EntraError {
        EntraError("invalid_request", 90002, "Tenant '\(id)' not found. Check the tenant in the address.")
    }

    /// The error for a continuation token that is used elsewhere. It gives no reason.
    static func wrongToken(at endpoint: EntraEndpoint? = nil) -> EntraError {
        EntraError(endpoint == .token ? "invalid_grant" : "invalid_request", 55200, "The continuation_token is invalid for this request.")
    }

    static let wrongCode = EntraError(
        "invalid_grant", 50181, "Unable to validate the one time passcode as the code is incorrect.", suberror: "invalid_oob_value")

    /// - Parameter endpoint: The endpoint, because some errors differ between them.
    init(_ error: any ContractError, at endpoint: EntraEndpoint? = nil) {
        let text = error.message
        func make(_ name: String, _ code: Int64, _ suberror: String? = nil, status: Int64 = 400) -> EntraError {
            EntraError(name, code, text, suberror: suberror, status: status)
        }
        if endpoint == .registerChallenge, Self.refusesContact(error) {
            self = make("invalid_request", 901_001)
            return
        }
        switch error {
        case is ClientUnknown: self = make("unauthorized_client", 700016)
        case let refused as ClientNotPermitted:
            self = make("invalid_client", 550022, refused.cause == .confidential ? nil : "nativeauthapi_disabled")
        case is ClientSecretInvalid: self = make("invalid_client", 7_000_215)
        case is InvalidPhoneNumber: self = make("invalid_request", 901_001)
        case is InvalidUsername:
            self = EntraError("invalid_request", 90100, "username parameter is empty or not valid. \(text)")
        case is UserAlreadyExists: self = make("user_already_exists", 1_003_037)
        case is UserNotFound: self = make("user_not_found", 50034)
        case is PasswordNotAccepted: self = make("unsupported_auth_method", 901007)
        case is SignUpNotAllowed, is AccountDisabled: self = make("access_denied", 50057)
        case let invalid as InvalidPassword: self = EntraError(invalid, text)
        case is PasswordNotSet where endpoint == .resetStart:
            // A phrase that programs look for.
            self = make("invalid_request", 500_222)
            message = "The tenant or user does not support native credential recovery. \(text)"
        case is PasswordNotSet: self = make("invalid_grant", 50126)
        case is AccountLocked: self = make("invalid_grant", 50053)
        case is PasswordChangeRequired: self = make("invalid_request", 50142)
        case is InvalidCode, is CodeExpired, is FactorCodeInvalid: self = make("invalid_grant", 50181, "invalid_oob_value")
        case let invalid as InvalidAttributes:
            var names: [String] = []
            for each in invalid.attributes where !names.contains(each.name) { names.append(each.name) }
            self = make("invalid_grant", 1_002_027, "attribute_validation_failed")
            more["invalid_attributes"] = .array(names.map { ["name": .string($0)] })
        case is FlowFinished: self = make("invalid_grant", 55200)
        case let ended as FlowEnded where endpoint == .resetPoll && ended.cause == .accountDeleted: self = make("user_not_found", 50034)
        case is ContinuationTokenInvalid, is FlowEnded, is StepNotPossible, is FactorNotFound: self = .wrongToken(at: endpoint)
        case is ContinuationTokenExpired: self = make("expired_token", 552_003)
        case is TooManyCodes, is TooManyFailedSends: self = make("invalid_request", 701_014)
        case is ScopeNotOffered, is ScopeNotGranted, is AudienceNotOffered:
            self = make("invalid_scope", 70011)
            codes.append(Self.notConsented.code)
            message += " AADSTS\(Self.notConsented.code): \(Self.notConsented.phrase)"
        case let refused as RefusedByHook:
            // The counterpart of a contact that the reputation service of Microsoft blocks.
            let isBlocked = refused.hook == .beforeSendMessage && (endpoint == .challenge || endpoint == .registerChallenge)
            self = isBlocked ? make("access_denied", 550_024, "provider_blocked_by_rep") : make("access_denied", 50057)
        case is HookFailed, is HooksNotOffered: self = make("server_error", 90033)
        case is RefreshTokenExpired, is SessionExpired: self = make("invalid_grant", 700_082)
        case is RefreshTokenInvalid, is RefreshTokenReused, is AccountMerged: self = make("invalid_grant", 70000)
        case is SecondFactorRequired: self = make("invalid_grant", 50076, "mfa_required")
        case is MessageNotSent: self = make("server_error", 90033)
        case let limited as TooManyFromClient:
            self = make("temporarily_unavailable", 50196, status: 429)
            retryAfterSeconds = limited.retryAfterSeconds
        case is SendUnderway:
            self = make("temporarily_unavailable", 50196, status: 429)
            retryAfterSeconds = 1
        case is StoreBusy: self = make("temporarily_unavailable", 90033, status: 503)
        case is InvalidParams: self = make("invalid_request", 90100)
        default: self = make("invalid_request", 50000)
        }
    }

    /// The second code and the phrases that programs look for if an application lacks a scope.
    private static let notConsented = (
        code: Int64(65001),
        phrase: "The user or administrator has not consented to use the application. "
            + "Send an interactive authorization request for this user and resource."
    )

    /// Whether another contact can be registered in place of the refused one.
    static func refusesContact(_ error: any ContractError) -> Bool {
        switch error {
        case is InvalidUsername, is InvalidPhoneNumber, is FactorAddsNothing, is FactorExists, is EmailNotVerified,
            is FactorKindNotAccepted, is TooManyFactors:
            true
        default: false
        }
    }

    /// The first violated rule decides.
    private init(_ invalid: InvalidPassword, _ text: String) {
        let suberrors: [(PasswordRule, String)] = [
            (.disallowedCharacters, "password_is_invalid"), (.tooShort, "password_too_short"), (.tooLong, "password_too_long"),
            (.tooWeak, "password_too_weak"), (.banned, "password_banned"), (.breached, "password_banned"),
            (.recentlyUsed, "password_recently_used"),
        ]
        let rules = invalid.reasons.map(\.rule)
        guard let found = suberrors.first(where: { rules.contains($0.0) }) else {
            self = EntraError("invalid_grant", 50126, text)
            return
        }
        self = EntraError("invalid_grant", 399_246, text, suberror: found.1)
    }
}
