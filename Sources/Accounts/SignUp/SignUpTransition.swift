import Contract
import JSON

/// Where a sign-up stands: what the table of native-auth.md 2.1 depends on.
struct SignUpState: Sendable, Equatable {
    var stage: Flow.Stage
    var isVerified = false
    var hasPassword = false
    /// What was accepted so far.
    var attributes = JSONObject()
}

/// What a caller does in a sign-up. Values are judged before: a password that breaks rules and attributes that do not fit never
/// come here.
enum SignUpInput: Sendable {
    case code(isRight: Bool)
    case resend
    case password
    case attributes(JSONObject)
}

/// What becomes of it beside the next state.
enum SignUpEffect: Sendable, Equatable {
    case sendCode, refuseCode, endCode, keepPassword, createAccount
}

/// The transition table of native-auth.md 2.1. U1 and U2 are one here, as are U3 and U4: nobody asks for a challenge by itself.
enum SignUpTransition {
    /// What a verified one waits for is decided anew by what the tenant asks for now: it may have been changed since the last step.
    ///
    /// - Throws: `StepNotPossible` for every row that the table does not have, `PasswordNotAccepted`.
    static func decide(
        _ state: SignUpState, _ input: SignUpInput, _ method: LocalAccountMethod, _ definitions: [TenantAttribute]
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
            if method == .emailCode { throw PasswordNotAccepted() }
            next.hasPassword = true
            effects = [.keepPassword]
        case (.passwordRequired, .password) where method == .emailCode:
            break  // It was asked for before the tenant changed; nothing keeps it now.
        case (.passwordRequired, .password),
            (.attributesRequired, .password) where due == .passwordRequired:  // U3, U4
            next.hasPassword = true
            effects = [.keepPassword]
        case (.codeRequired, .attributes(let given)):  // U1, U2 before verification
            for (name, value) in given.members { next.attributes[name] = value }
        case (.attributesRequired, .attributes(let given)),
            (.passwordRequired, .attributes(let given)) where due != .passwordRequired:  // U5
            // Optional ones alone come too late (6.14); an accepted one can be given again.
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

    /// What it waits for by what the tenant asks for now; `completed` also where nothing is missing any more.
    static func due(_ state: SignUpState, _ method: LocalAccountMethod, _ definitions: [TenantAttribute]) -> Flow.Stage {
        switch state.stage {
        case .passwordRequired, .attributesRequired: stage(after: state, method, definitions)
        default: state.stage
        }
    }

    /// What is asked for next: the address first, then the password, then what is missing.
    static func stage(after state: SignUpState, _ method: LocalAccountMethod, _ definitions: [TenantAttribute]) -> Flow.Stage {
        if !state.isVerified { return .codeRequired }
        if method == .emailPassword, !state.hasPassword { return .passwordRequired }
        return AttributeRules.missing(definitions, in: state.attributes).isEmpty ? .completed : .attributesRequired
    }
}
