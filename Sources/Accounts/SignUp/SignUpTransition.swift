import Contract
import JSON

/// The state of a sign-up on which the transition table depends.
struct SignUpState: Sendable, Equatable {
    var stage: Flow.Stage
    var isVerified = false
    var hasPassword = false
    var hasPasskey = false
    /// The attributes that were accepted so far.
    var attributes = JSONObject()
}

/// An input to a sign-up. Passwords and attributes are validated before; invalid ones cause an error and no transition.
enum SignUpInput: Sendable {
    case code(isRight: Bool)
    case resend
    case password
    case passkey
    case attributes(JSONObject)
}

/// The effects of a transition in addition to the next state.
enum SignUpEffect: Sendable, Equatable {
    case sendCode, refuseCode, endCode, keepPassword, createAccount
}

/// The transition table of a sign-up: Sources/Accounts/README.md, "Sign-up". The trailing comments name its states: U1 and U2 wait for the
/// code, U3 and U4 for a password or a passkey, U5 for attributes. U1 and U3 are the states before a challenge is requested, which
/// Microsoft Entra distinguishes and this implementation does not.
enum SignUpTransition {
    /// Decides the next state and the effects of an input. After verification, the required step depends on the tenant's current settings,
    /// which may have changed since the last step.
    ///
    /// - Throws: `StepNotPossible` for inputs that the table does not contain, `PasswordNotAccepted`.
    static func decide(
        _ state: SignUpState, _ input: SignUpInput, _ method: LocalAccountMethod, attributes definitions: [TenantAttribute]
    ) throws -> (state: SignUpState, effects: [SignUpEffect]) {
        var next = state
        var effects: [SignUpEffect] = []
        let due = due(state, method, definitions)
        switch (state.stage, input) {
        case (.codeRequired, .code(isRight: false)):  // U2: wrong, expired or superseded code, or no attempts left
            return (state, [.refuseCode])
        case (.codeRequired, .code(isRight: true)):  // U2: right
            next.isVerified = true
            effects = [.endCode]
        case (.codeRequired, .resend):  // U1, U2: challenge
            return (state, [.sendCode])
        case (.codeRequired, .password):  // U1, U2 before verification
            if !method.permitsPasswords { throw PasswordNotAccepted() }
            next.hasPassword = true
            effects = [.keepPassword]
        case (.passwordRequired, .password) where !method.permitsPasswords:
            break  // It was asked for before the tenant changed; nothing keeps it now.
        case (.passwordRequired, .password),
            (.attributesRequired, .password) where due == .passwordRequired:  // U3, U4
            next.hasPassword = true
            effects = [.keepPassword]
        case (.passkeyRequired, .passkey),
            (.attributesRequired, .passkey) where due == .passkeyRequired,
            (.passwordRequired, .passkey) where due == .passkeyRequired:
            next.hasPasskey = true
        case (.codeRequired, .attributes(let given)):  // U1, U2 before verification
            for (name, value) in given.members { next.attributes[name] = value }
        case (.attributesRequired, .attributes(let given)),
            (.passwordRequired, .attributes(let given)) where due != .passwordRequired && due != .passkeyRequired,
            (.passkeyRequired, .attributes(let given)) where due != .passwordRequired && due != .passkeyRequired:  // U5
            // At this stage the input must contain a required attribute; values that were already accepted can be repeated.
            let asked = definitions.filter(\.required).map(\.name)
            if due == .attributesRequired, !given.names.contains(where: { asked.contains($0) }) { break }
            for (name, value) in given.members { next.attributes[name] = value }
        default:
            throw StepNotPossible(expected: (due == .completed ? state.stage : due).method(in: "signUp"))
        }
        next.stage = stage(after: next, method, definitions)
        if next.stage == .completed { effects.append(.createAccount) }
        return (next, effects)
    }

    /// The step that the tenant's current settings require; `completed` if nothing is missing.
    static func due(_ state: SignUpState, _ method: LocalAccountMethod, _ definitions: [TenantAttribute]) -> Flow.Stage {
        switch state.stage {
        case .passwordRequired, .passkeyRequired, .attributesRequired: stage(after: state, method, definitions)
        default: state.stage
        }
    }

    /// The next step: verify the address, then set a password or register a passkey, then submit missing attributes.
    static func stage(after state: SignUpState, _ method: LocalAccountMethod, _ definitions: [TenantAttribute]) -> Flow.Stage {
        if !state.isVerified { return .codeRequired }
        if method == .emailPassword, !state.hasPassword { return .passwordRequired }
        if method == .passkey, !state.hasPasskey { return .passkeyRequired }
        return AttributeRules.missing(definitions, in: state.attributes).isEmpty ? .completed : .attributesRequired
    }
}
