import Crypto
import JSON
import ServiceContext
import Storage

/// The second-factor state of a flow.
struct FactorStep: Sendable {
    /// The session of the signed-in user who enrolls a factor; `nil` within a sign-in.
    var sessionId: String?
    /// The encrypted sign-in to which the step belongs.
    var signIn: [UInt8]?
    /// The ID of the factor whose code was sent.
    var factorId: String?
    /// The encrypted draft of the factor to enroll.
    var draft: [UInt8]?
}

/// A factor that is being enrolled.
struct FactorDraft: Sendable, Equatable {
    let id: String
    let kind: FactorRecord.Kind
    var displayName: String?
    var target: String?
    /// The decoded secret of a TOTP app.
    var secret: [UInt8]?
    /// Whether the target is the verified address of the account and needs no code.
    var isVerified = false

    func sealed(in flow: String, _ vault: Vault) -> [UInt8] {
        var object: JSONObject = ["id": .string(id), "kind": .string(kind.rawValue)]
        object["name"] = displayName.map { .string($0) }
        object["target"] = target.map { .string($0) }
        object["secret"] = secret.map { .array($0.map { .number(JSONNumber(Int64($0))) }) }
        if isVerified { object["verified"] = .bool(true) }
        return vault.seal(SecretBytes(JSONValue.object(object).bytes), as: Self.sealName(flow))
    }

    /// - Throws: `SealBroken`.
    init(_ sealed: [UInt8], of flow: String, _ vault: Vault) throws {
        let object = (try? JSONValue(parsing: try vault.open(sealed, as: Self.sealName(flow)).copy()))?.object ?? [:]
        guard let id = object["id"]?.string, let kind = object["kind"]?.string.flatMap(FactorRecord.Kind.init) else {
            throw SealBroken(name: Self.sealName(flow))
        }
        self.init(
            id: id, kind: kind, displayName: object["name"]?.string, target: object["target"]?.string,
            secret: object["secret"]?.array.map { $0.compactMap { $0.int.map { UInt8(truncatingIfNeeded: $0) } } })
        isVerified = object["verified"]?.bool ?? false
    }

    init(id: String, kind: FactorRecord.Kind, displayName: String?, target: String?, secret: [UInt8]?) {
        self.id = id
        self.kind = kind
        self.displayName = displayName
        self.target = target
        self.secret = secret
    }

    private static func sealName(_ flow: String) -> String { "enrolment \(flow)" }

    /// The recipient of the codes; `nil` for a TOTP app.
    var recipient: Recipient? { target.flatMap { Recipient($0, kind) } }
}

extension Transaction {
    func factorStep(of flowId: String) throws -> FactorStep? {
        try queryOne("SELECT session_id, sign_in, factor_id, draft FROM factor_step WHERE flow_id = $1", flowId) {
            FactorStep(
                sessionId: $0.optionalString(0), signIn: $0.optionalBytes(1), factorId: $0.optionalString(2), draft: $0.optionalBytes(3))
        }
    }

    func setFactorStep(_ step: FactorStep, of flowId: String) throws {
        try execute(
            """
            INSERT INTO factor_step (flow_id, session_id, sign_in, factor_id, draft) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (flow_id) DO UPDATE SET
                session_id = excluded.session_id, sign_in = excluded.sign_in, factor_id = excluded.factor_id, draft = excluded.draft
            """, flowId, step.sessionId, step.signIn, step.factorId, step.draft)
    }

    /// Records the challenged factor of a flow.
    func setChallenged(_ factorId: String, in flowId: String) throws {
        try execute("UPDATE factor_step SET factor_id = $2 WHERE flow_id = $1", flowId, factorId)
    }
}
