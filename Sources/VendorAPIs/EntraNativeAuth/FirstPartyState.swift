import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// The content of an `auth_session` or an authorization code. Both are this state, encrypted; only the flow is stored.
struct FirstPartyState {
    enum Form: String { case session = "auth session", code = "authorization code" }

    /// The next step of the flow.
    enum Next: String {
        case code, password, attributes, newPassword = "new_password", secondFactor = "second_factor", enrollment = "enrolment"
    }

    enum Kind: String { case signUp = "sign_up", signIn = "sign_in", reset }

    /// The lifetime of an authorization code, in seconds.
    static let codeSeconds: Int64 = 60

    /// The ID of the authorization session, the same in all its values.
    let id: String
    let tenantId: String
    let clientId: String
    let kind: Kind
    /// The PKCE code challenge, with S256.
    var challenge: String?
    /// The thumbprint of the key of a DPoP proof, to which the session and its authorization code are bound (RFC 9449 §10.1).
    var thumbprint: String?
    /// The scope and the resource, as requested.
    var scope: String?
    var resource: String?
    /// The continuation token of the flow.
    var token = ""
    var next = Next.code
    /// Whether the second factor or the factor to enroll waits for its code.
    var awaitsCode = false
    /// The time at which an authorization code expires.
    var expiresAt: Int64?

    init(id: String, tenantId: String, clientId: String, kind: Kind) {
        self.id = id
        self.tenantId = tenantId
        self.clientId = clientId
        self.kind = kind
    }

    func sealed(as form: Form, _ vault: Vault) -> String {
        var object: JSONObject = [
            "id": .string(id), "tenant": .string(tenantId), "client": .string(clientId), "kind": .string(kind.rawValue),
            "token": .string(token), "next": .string(next.rawValue),
        ]
        object["challenge"] = challenge.map { .string($0) }
        object["thumbprint"] = thumbprint.map { .string($0) }
        object["scope"] = scope.map { .string($0) }
        object["resource"] = resource.map { .string($0) }
        if awaitsCode { object["awaitsCode"] = .bool(true) }
        object["expiresAt"] = expiresAt.map { .number(JSONNumber($0)) }
        return Base64URL.encode(vault.seal(SecretBytes(JSONValue.object(object).bytes), as: form.rawValue))
    }

    /// - Returns: `nil` if this store did not create the text in this form.
    init?(_ text: String, as form: Form, _ vault: Vault) {
        guard let sealed = Base64URL.decode(text), let plain = try? vault.open(sealed, as: form.rawValue).copy(),
            let object = (try? JSONValue(parsing: plain))?.object, let id = object["id"]?.string, let tenant = object["tenant"]?.string,
            let client = object["client"]?.string, let kind = object["kind"]?.string.flatMap(Kind.init),
            let token = object["token"]?.string, let next = object["next"]?.string.flatMap(Next.init)
        else { return nil }
        self.init(id: id, tenantId: tenant, clientId: client, kind: kind)
        self.token = token
        self.next = next
        challenge = object["challenge"]?.string
        thumbprint = object["thumbprint"]?.string
        scope = object["scope"]?.string
        resource = object["resource"]?.string
        awaitsCode = object["awaitsCode"]?.bool ?? false
        expiresAt = object["expiresAt"]?.int
    }

    /// Returns whether a code verifier belongs to the challenge (RFC 7636 §4.6).
    func isProved(by verifier: String?) -> Bool {
        switch (challenge, verifier) {
        case (nil, nil): true
        case (let challenge?, let verifier?):
            43...128 ~= verifier.utf8.count && constantTimeEquals(Base64URL.encode(Hash.sha256(Array(verifier.utf8))), challenge)
        default: false
        }
    }
}

/// The outcome of a step.
enum FirstPartyOutcome {
    case more(FirstPartyState.Next, token: String, JSONObject, awaitsCode: Bool)
    /// The flow is complete: its token becomes the authorization code.
    case done(token: String)
    case web(String)

    static func more(_ next: FirstPartyState.Next, _ token: String, _ members: JSONObject = [:]) -> FirstPartyOutcome {
        .more(next, token: token, members, awaitsCode: false)
    }
}

/// An error of RFC 6749 §5.2, or of OAuth 2.0 for First-Party Applications.
struct FirstPartyError: Error {
    let error: String
    let message: String
    var status: Int64 = 400
    var retryAfterSeconds: Int64?
    var more = JSONObject()

    init(_ error: String, _ message: String, status: Int64 = 400, more: JSONObject = [:]) {
        self.error = error
        self.message = message
        self.status = status
        self.more = more
    }

    static let invalidSession = FirstPartyError(
        "invalid_session", "The auth_session is unknown, spent or expired, or belongs to another client. Start again without it.")

    init(_ error: any ContractError) {
        func make(_ name: String, status: Int64 = 400) -> FirstPartyError { FirstPartyError(name, error.message, status: status) }
        switch error {
        case is ContinuationTokenInvalid, is ContinuationTokenExpired, is FlowEnded, is FlowFinished, is StepNotPossible:
            self = Self.invalidSession
        case is ClientUnknown, is ClientSecretInvalid: self = make("invalid_client")
        case is ClientNotPermitted: self = make("unauthorized_client")
        case is ScopeNotOffered, is ScopeNotGranted: self = make("invalid_scope")
        case is AudienceNotOffered: self = make("invalid_target")
        case is UserNotFound, is UserAlreadyExists, is SignUpNotAllowed, is PasswordNotAccepted, is PasswordNotSet, is AccountDisabled,
            is AccountLocked, is PasswordChangeRequired, is TooManyCodes, is TooManyFailedSends:
            self = make("access_denied")
            more["reason"] = .string(Self.snake(type(of: error).type))
        case let refused as RefusedByHook:
            self = make("access_denied")
            more["reason"] = .string(Self.snake(type(of: refused).type))
        case let limited as TooManyFromClient:
            self = make("temporarily_unavailable", status: 429)
            retryAfterSeconds = limited.retryAfterSeconds
        case is SendUnderway:
            self = make("temporarily_unavailable", status: 429)
            retryAfterSeconds = 1
        case is StoreBusy: self = make("temporarily_unavailable", status: 503)
        case is MessageNotSent, is HookFailed, is HooksNotOffered: self = make("server_error")
        default: self = make("invalid_request")
        }
    }

    /// Returns a name in snake_case.
    static func snake(_ name: String) -> String {
        var text = ""
        for character in name {
            if character.isUppercase { text += "_" }
            text += character.lowercased()
        }
        return text
    }

    var body: JSONObject {
        var body: JSONObject = ["error": .string(error), "error_description": .string(Self.described(message))]
        for (name, value) in more.members { body[name] = value }
        return body
    }

    /// Returns a description with only the characters that RFC 6749 §5.2 permits.
    static func described(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar {
                    case "\"": "'"
                    case "\\": "/"
                    case "\t", "\n", "\r": " "
                    case " "..."~": scalar
                    default: "?"
                    }
                }))
    }
}
