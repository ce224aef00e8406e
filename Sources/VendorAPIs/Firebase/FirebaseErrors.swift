import Contract
import JSON
import Storage

/// An error in the format of the Identity Toolkit API.
struct FirebaseError: Error, Equatable {
    /// The code, optionally followed by ` : ` and details.
    let message: String
    var status: Int64 = 400
    /// The canonical name of the HTTP status, for the errors that have one.
    var name: String?

    init(_ message: String, status: Int64 = 400, name: String? = nil) {
        self.message = message
        self.status = status
        self.name = name
    }

    static func payload(_ reason: String) -> FirebaseError {
        FirebaseError("Invalid JSON payload received. \(reason)", name: "INVALID_ARGUMENT")
    }

    static let notFound = FirebaseError("Not Found", status: 404, name: "NOT_FOUND")
    static let noKey = FirebaseError("The request is missing a valid API key.", status: 403, name: "PERMISSION_DENIED")
    static let noCredential = FirebaseError(
        "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication "
            + "credential.", status: 401, name: "UNAUTHENTICATED")
    static let badCredential = FirebaseError(
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication "
            + "credential.", status: 401, name: "UNAUTHENTICATED")
    static func notOffered(_ what: String) -> FirebaseError {
        FirebaseError("NOT_IMPLEMENTED : \(what) is not available.", status: 501, name: "NOT_IMPLEMENTED")
    }

    var body: JSONObject {
        let detail: JSONObject = ["message": .string(message), "reason": "invalid", "domain": "global"]
        var error: JSONObject = [
            "code": .number(JSONNumber(status)), "message": .string(message), "errors": .array([.object(detail)]),
        ]
        error["status"] = name.map { .string($0) }
        return ["error": .object(error)]
    }

    /// The error that Firebase returns in place of an error of a method.
    init(_ error: any ContractError) {
        switch error {
        case is UserAlreadyExists: self.init("EMAIL_EXISTS")
        case is AccountExists, is AccountMerged: self.init("DUPLICATE_LOCAL_ID")
        case is AccountNotFound: self.init("USER_NOT_FOUND")
        case is UserNotFound: self.init("EMAIL_NOT_FOUND")
        case is InvalidUsername: self.init("INVALID_EMAIL")
        case is InvalidPhoneNumber: self.init("INVALID_PHONE_NUMBER : Invalid format.")
        case is PhoneNumberInUse: self.init("PHONE_NUMBER_EXISTS")
        case is ProviderSubjectInUse: self.init("FEDERATED_USER_ID_ALREADY_LINKED")
        case let error as InvalidPassword:
            self.init(error.reasons.contains { $0.rule == .incorrect } ? "INVALID_PASSWORD" : Self.weak(error))
        case is PasswordNotSet: self.init("INVALID_PASSWORD")
        case is PasswordChangeRequired: self.init("PASSWORD_DOES_NOT_MEET_REQUIREMENTS : The password must be changed.")
        case is AccountDisabled: self.init("USER_DISABLED")
        case is RefusedByHook, is HookFailed, is HooksNotOffered:
            self.init("BLOCKING_FUNCTION_ERROR_RESPONSE : ((\(error.message)))")
        case is TenantDisabled: self.init("OPERATION_NOT_ALLOWED : The tenant is disabled.")
        case is AccountLocked, is TooManyRequests, is TooManyFromClient, is TooManyCodes, is TooManyFailedSends:
            self.init("TOO_MANY_ATTEMPTS_TRY_LATER : \(error.message)")
        case is MessageNotSent: self.init("UNAVAILABLE : \(error.message)", status: 503, name: "UNAVAILABLE")
        case let error as ClaimNameReserved: self.init("FORBIDDEN_CLAIM : \(error.names.first ?? "")")
        case is ClaimsTooLong: self.init("CLAIMS_TOO_LARGE")
        case let error as TenantNotFound: self.init("CONFIGURATION_NOT_FOUND : The project \(error.tenantId) does not exist.")
        case is AnonymousNotAllowed: self.init("ADMIN_ONLY_OPERATION")
        case let error as InvalidAttributes:
            let name = error.attributes.first.map { $0.name == "picture" ? "INVALID_PHOTO_URL" : "INVALID_DISPLAY_NAME" }
            self.init("\(name ?? "INVALID_ARGUMENT") : \(error.message)")
        case let error as CustomTokenInvalid: self.init("INVALID_CUSTOM_TOKEN : ((\(error.reason)))")
        case is InvalidNonce: self.init("MISSING_OR_INVALID_NONCE : \(error.message)")
        case is InvalidCredential, is ProviderUnavailable, is ProviderUnusable: self.init("INVALID_IDP_RESPONSE : \(error.message)")
        case is IdpNotFound, is IdpDisabled: self.init("OPERATION_NOT_ALLOWED : \(error.message)")
        case is InvalidHashParameters: self.init("INVALID_HASH_PARAMETERS : \(error.message)")
        default: self.init("INVALID_ARGUMENT : \(error.message)")
        }
    }

    private static func weak(_ error: InvalidPassword) -> String {
        let isShort = error.reasons.contains { $0.rule == .tooShort }
        if isShort { return "WEAK_PASSWORD : Password should be at least 6 characters" }
        return "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : \(error.reasons.map(\.message).joined(separator: " "))"
    }
}
