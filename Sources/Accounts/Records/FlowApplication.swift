import Contract
import JSON

/// The application that started a flow, and the parts of the flow that it can carry out itself.
struct FlowApplication: Sendable, Equatable {
    /// `nil` for the default application of the tenant.
    var name: ApplicationName?
    /// `nil` for an application that can carry out everything.
    var accepts: [FlowCapability]?
    /// The first step that waits for attributes, after attributes were submitted in vain. The tokens of this step and of later ones are
    /// valid until the attributes are complete: some applications keep the token with which they submitted the first ones.
    var attributesSince: Int64?

    init(name: ApplicationName? = nil, accepts: [FlowCapability]? = nil) {
        self.name = name
        self.accepts = accepts
    }

    /// The text in the store, or `nil` if there is nothing to store.
    var text: String? {
        if name == nil, accepts == nil, attributesSince == nil { return nil }
        var object: JSONObject = [:]
        if let name { object["name"] = ["id": .string(name.id), "clientId": .string(name.clientId)] }
        object["attributesSince"] = attributesSince.map { .number(JSONNumber($0)) }
        object["accepts"] = accepts.map { .array($0.map { .string($0.rawValue) }) }
        return JSONValue.object(object).text
    }

    init(text: String?) {
        guard let object = text.flatMap({ try? JSONValue(parsing: $0) })?.object else { return }
        if let name = object["name"]?.object, let id = name["id"]?.string, let clientId = name["clientId"]?.string {
            self.name = ApplicationName(id: id, clientId: clientId)
        }
        attributesSince = object["attributesSince"]?.int
        accepts = object["accepts"]?.array.map { $0.compactMap { $0.string.flatMap(FlowCapability.init(rawValue:)) } }
    }

    /// - Throws: `ContinuationTokenInvalid` if a request names another application.
    func require(_ clientId: String?, of tenant: TenantRecord) throws {
        guard let clientId, clientId != name?.clientId ?? tenant.id else { return }
        // The application that holds a foreign token must not learn whose it is.
        throw ContinuationTokenInvalid()
    }

    /// The part of the fingerprint of a start. Empty for calls that earlier versions accept.
    func fingerprint(sends: Bool) -> [JSONValue] {
        if name == nil, accepts == nil, sends { return [] }
        let accepts: JSONValue = accepts.map { .array($0.map { .string($0.rawValue) }) } ?? .null
        return [.string(name?.id ?? ""), accepts, .bool(sends)]
    }

    /// Returns the redirection to another application if this one cannot carry out all of `needed`.
    func redirection(for needed: [FlowCapability]) -> Redirection? {
        guard let accepts else { return nil }
        let missing = needed.filter { !accepts.contains($0) }
        return missing.isEmpty ? nil : Redirection(missing: missing)
    }
}

/// The state of a flow that its application cannot carry out.
struct Redirection: Equatable {
    let missing: [FlowCapability]

    var reason: String {
        let names = missing.map(\.rawValue).joined(separator: " and ")
        return "The flow needs \(names), which the application does not accept."
    }

    var signUp: SignUpStep { .redirectRequired(.init(missing: missing, reason: reason)) }
    var signIn: SignInStep { .redirectRequired(.init(missing: missing, reason: reason)) }
    var passwordReset: PasswordResetStep { .redirectRequired(.init(missing: missing, reason: reason)) }
}

extension Flow {
    /// The part of the flow that its current step needs, if an application may be unable to carry it out.
    var needed: [FlowCapability] {
        switch stage {
        case .codeRequired: [.code]
        // An application that can reset passwords can ask for a new one.
        case .passwordRequired: kind == .passwordReset ? [] : [.password]
        case .secondFactorRequired: [.secondFactor]
        case .enrollmentRequired, .enrollmentCode: [.enrollment]
        case .attributesRequired, .passkeyRequired, .completed: []
        }
    }

    /// Returns the redirection that the current step requires, if any.
    var redirection: Redirection? { application.redirection(for: needed) }

    /// Whether the flow waits for a code that was not sent yet.
    var awaitsFirstCode: Bool { stage == .codeRequired && code.expiresAt == 0 }

    /// The time from which the user is advised to request a new code; immediately if none was sent.
    func shownResendAt(_ policy: CodePolicy) -> Int64 { awaitsFirstCode ? requestedAt : resendAt(policy) }

    /// The time at which the code expires; if none was sent, the continuation token.
    var shownExpiresAt: Int64 { awaitsFirstCode ? expiresAt : code.expiresAt }
}
