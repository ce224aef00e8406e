import Contract
import JSON

/// A pending sign-up, sign-in, password reset, change of address or second-factor operation, as it is stored between its steps
/// (Sources/Accounts/README.md, "Flows").
package struct Flow: Sendable {
    enum Kind: String, Sendable {
        case signUp, signIn, passwordReset
        /// A change of the account's email address, or the verification of its current address.
        case emailChange, emailVerification
        /// A sign-in that requires a second factor, or the enrollment of a factor by a signed-in user.
        case secondFactor
        /// The text in the store keeps its first spelling.
        case factorEnrollment = "factorEnrolment"

        /// The namespace of the methods that continue the flow.
        var namespace: String {
            switch self {
            case .signUp, .signIn, .passwordReset: rawValue
            case .emailChange, .emailVerification: "account"
            case .secondFactor, .factorEnrollment: "mfa"
            }
        }
    }

    /// The next step of the flow.
    enum Stage: String, Sendable {
        case codeRequired, passwordRequired, passkeyRequired, attributesRequired, completed
        /// A second factor must be verified; a factor must be enrolled; the code of the factor being enrolled must be verified.
        case secondFactorRequired
        /// The texts in the store keep their first spelling.
        case enrollmentRequired = "enrolmentRequired", enrollmentCode = "enrolmentCode"
    }

    /// The current or last code of a flow.
    struct Code: Sendable {
        /// The HMAC of the flow ID and the code; `nil` if the code was used, or if the flow is a decoy.
        var mac: [UInt8]?
        var expiresAt: Int64 = 0
        var sentAt: Int64 = 0
        var tries: Int64 = 0
    }

    /// The maximum idle time between two steps, in seconds. It starts when the current code expires.
    static let idleSeconds: Int64 = 600
    /// The maximum total duration, in seconds.
    static let longestSeconds: Int64 = 3600
    /// The time for which the token of a completed flow is valid for `signIn.withContinuation`, in seconds.
    static let completedSeconds: Int64 = 300
    /// The time within which a repeated request gets the same response, in seconds.
    static let repeatSeconds: Int64 = 60

    /// 16 bytes in hexadecimal.
    let id: String
    let tenantId: String
    let kind: Kind
    var stage: Stage
    /// The number of the current step. It increases with every response that advances the flow.
    var step: Int64 = 1
    /// The address that the codes verify, as the user entered it.
    let username: String
    /// The language of the messages, as a language tag.
    let language: String?
    /// The ID of the account; for a sign-up, the ID that the account will get.
    let accountId: String
    /// Whether the flow cannot succeed, which responses must not reveal: a sign-up for an address that has an account, or another flow for
    /// an
    /// address that has none.
    var isDecoy = false
    var isVerified = false
    /// The password of a sign-up, encrypted for the account.
    var password: [UInt8]?
    var attributes = JSONObject()
    /// The passkey of a sign-up, which is registered with the account.
    var passkey: SignUpPasskey?
    var code = Code()
    var sends: Int64 = 0
    /// The application that started the flow, and what it can do.
    var application = FlowApplication()
    /// The reason the flow ended early; `nil` if it is active.
    var ending: ExitStatus?
    /// The fingerprint of the request that led to the current step, and the time of that request.
    var request: [UInt8]
    var requestedAt: Int64
    var idleUntil: Int64
    let endsAt: Int64

    init(
        id: String, tenantId: String, kind: Kind, stage: Stage, username: String, accountId: String, language: String?, request: [UInt8],
        requestedAt: Int64
    ) {
        self.id = id
        self.tenantId = tenantId
        self.kind = kind
        self.stage = stage
        self.username = username
        self.accountId = accountId
        self.language = language
        self.request = request
        self.requestedAt = requestedAt
        idleUntil = requestedAt + Self.idleSeconds
        endsAt = requestedAt + Self.longestSeconds
    }

    /// The key under which codes and wrong attempts are counted.
    var address: String { "\(tenantId)/\(Username.fold(username))" }

    /// The time at which the continuation token expires.
    var expiresAt: Int64 { min(idleUntil, endsAt) }

    /// - Throws: `StepNotPossible` if the next step is not `stage`.
    func require(_ stage: Stage) throws {
        if self.stage != stage { throw StepNotPossible(expected: expectedMethod) }
    }

    /// Advances the flow to its next step and records the request.
    mutating func move(by request: [UInt8], at now: Int64) {
        step += 1
        self.request = request
        requestedAt = now
        rest(from: now)
    }

    /// Restarts the idle time. While the flow waits for a code, the idle time starts when the code expires, so that the user can still
    /// request
    /// another one.
    mutating func rest(from now: Int64) {
        switch stage {
        case .completed: idleUntil = now + Self.completedSeconds
        case .codeRequired: idleUntil = max(now, code.expiresAt) + Self.idleSeconds
        default: idleUntil = now + Self.idleSeconds
        }
    }

    /// The method that continues the flow from its current stage.
    var expectedMethod: String { stage.method(in: kind.namespace) }
}

extension Flow.Stage {
    /// The method that continues a flow of the namespace from this stage.
    func method(in namespace: String) -> String {
        switch self {
        case .codeRequired: "\(namespace).submitCode"
        case .passwordRequired: "\(namespace).submitPassword"
        case .passkeyRequired: "passkey.startRegistration"
        case .attributesRequired: "\(namespace).submitAttributes"
        case .completed: "signIn.withContinuation"
        case .secondFactorRequired: "mfa.resolve"
        case .enrollmentRequired: "mfa.enroll"
        case .enrollmentCode: "mfa.confirm"
        }
    }
}

extension Flow {
    /// The address that the codes verify, in the form that hides its characters.
    var maskedAddress: String { (try? Username(username))?.masked ?? "***" }
}
