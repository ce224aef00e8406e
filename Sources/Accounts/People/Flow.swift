import Contract
import JSON

/// One attempt to sign up, to sign in, to reset a password or to change an address, as the store holds it between its steps.
package struct Flow: Sendable {
    enum Kind: String, Sendable {
        case signUp, signIn, passwordReset
        /// An account is to have another address, or its owner shows that the present one is theirs.
        case emailChange, emailVerification
        /// Somebody has shown one factor in one step, or somebody signed in enrols another.
        case secondFactor, factorEnrolment

        /// Where the methods are that carry it on.
        var namespace: String {
            switch self {
            case .signUp, .signIn, .passwordReset: rawValue
            case .emailChange, .emailVerification: "account"
            case .secondFactor, .factorEnrolment: "mfa"
            }
        }
    }

    /// What it waits for.
    enum Stage: String, Sendable {
        case codeRequired, passwordRequired, attributesRequired, completed
        /// A second factor has to be shown; one has to be enrolled; the code of the one that is enrolled has to be shown.
        case secondFactorRequired, enrolmentRequired, enrolmentCode
    }

    /// A code that is on its way or was.
    struct Code: Sendable {
        /// HMAC of flow and code; nil once it was used, and for an address that gets none.
        var mac: [UInt8]?
        var expiresAt: Int64 = 0
        var sentAt: Int64 = 0
        var tries: Int64 = 0
    }

    /// How long it can rest between two steps; while a code is good that does not begin.
    static let idleSeconds: Int64 = 600
    /// How long it can take in all.
    static let longestSeconds: Int64 = 3600
    /// How long the token of a completed one can wait for `signIn.withContinuation`.
    static let completedSeconds: Int64 = 300
    /// How long the same request gets the same answer.
    static let repeatSeconds: Int64 = 60

    /// 16 bytes in hexadecimal.
    let id: String
    let tenantId: String
    let kind: Kind
    var stage: Stage
    /// Counts the answers that carried it on.
    var step: Int64 = 1
    /// The address that its codes prove, as it was typed.
    let username: String
    /// What its messages are to be written in, as a language tag.
    let language: String?
    /// Whose it is; for a sign-up the id that the account will have.
    let accountId: String
    /// Whether nothing can come of it and nobody is to notice: there is, or is no, account with this address.
    var isDecoy = false
    var isVerified = false
    /// A sign-up's password, sealed as the account's.
    var password: [UInt8]?
    var attributes = JSONObject()
    var code = Code()
    var sends: Int64 = 0
    /// How it ended before its time.
    var ending: Ending?
    /// A fingerprint of the request that led here, and when it came.
    var request: [UInt8]
    var requestedAt: Int64
    var idleUntil: Int64
    let endsAt: Int64

    init(
        id: String, tenantId: String, kind: Kind, stage: Stage, username: String, accountId: String, language: String?, request: [UInt8],
        at now: Int64
    ) {
        self.id = id
        self.tenantId = tenantId
        self.kind = kind
        self.stage = stage
        self.username = username
        self.accountId = accountId
        self.language = language
        self.request = request
        requestedAt = now
        idleUntil = now + Self.idleSeconds
        endsAt = now + Self.longestSeconds
    }

    /// What codes and wrong tries are counted by.
    var address: String { "\(tenantId)/\(Username.fold(username))" }

    /// When its continuation token expires.
    var expiresAt: Int64 { min(idleUntil, endsAt) }

    /// - Throws: `StepNotPossible` unless it waits for `stage`.
    func require(_ stage: Stage) throws {
        if self.stage != stage { throw StepNotPossible(expected: expectedMethod) }
    }

    /// Notes that a request has carried it on.
    mutating func move(by request: [UInt8], at now: Int64) {
        step += 1
        self.request = request
        requestedAt = now
        rest(from: now)
    }

    /// Says how long it can rest now. While it waits for a code, that begins when the code ends: until then nobody is late, and after it
    /// there must be time to ask for another one.
    mutating func rest(from now: Int64) {
        switch stage {
        case .completed: idleUntil = now + Self.completedSeconds
        case .codeRequired: idleUntil = max(now, code.expiresAt) + Self.idleSeconds
        default: idleUntil = now + Self.idleSeconds
        }
    }

    /// The method that goes on from where it stands.
    var expectedMethod: String { stage.method(in: kind.namespace) }
}

extension Flow.Stage {
    /// The method that goes on from it, in the flows of a namespace.
    func method(in namespace: String) -> String {
        switch self {
        case .codeRequired: "\(namespace).submitCode"
        case .passwordRequired: "\(namespace).submitPassword"
        case .attributesRequired: "\(namespace).submitAttributes"
        case .completed: "signIn.withContinuation"
        case .secondFactorRequired: "mfa.resolve"
        case .enrolmentRequired: "mfa.enroll"
        case .enrolmentCode: "mfa.confirm"
        }
    }
}
