import Accounts
import Contract
import JSON

/// The endpoints of sign-ins before their tokens.
extension EntraCall {
    /// The kinds of second factors whose codes this API can carry.
    private static let carried: [FactorHint.Kind] = [.email, .sms]

    func initiate() throws -> JSONObject {
        let accepts = try accepts()
        let username = try usernameParameter()
        let step: SignInStep
        do {
            step = try service.signIn.start(
                .init(tenantId: tenant.id, username: username, client: client, clientId: clientId, accepts: accepts, send: false), call)
        } catch is PasswordNotSet {
            return redirect("the account has no password and no one-time codes")
        }
        switch step {
        case .codeRequired(let step): return proceed(step.continuationToken)
        case .passwordRequired(let step): return proceed(step.continuationToken)
        case .redirectRequired(let step): return redirect(step.missing)
        case .providerRequired: return redirect([.provider])
        case .passkeyRequired: return redirect("the account needs a passkey, which this API cannot use")
        case .secondFactorRequired, .secondFactorEnrollmentRequired, .tokensDeferred, .completed: throw EntraError.wrongToken()
        }
    }

    func challenge() throws -> JSONObject {
        let accepts = try challengeAccepts(isOptional: true)
        let (token, flow) = try flow([.signUp, .signIn, .passwordReset, .other], at: .challenge)
        if case .secondFactor(let hints) = flow.step {
            return accepts.contains(.code) ? try challenge(hints, token) : redirect([.code])
        }
        switch (flow.kind, flow.step) {
        case (.signIn, .code), (.signIn, .password): break
        default: throw EntraError.wrongToken()
        }
        let step = try service.signIn.challenge(
            .init(continuationToken: token, accepts: accepts, client: client, clientId: clientId), call)
        switch step {
        case .codeRequired(let step): return sent(step)
        case .passwordRequired(let step):
            return ["challenge_type": "password", "continuation_token": .string(step.continuationToken)]
        case .redirectRequired(let step): return redirect(step.missing)
        default: throw EntraError.wrongToken()
        }
    }

    /// Sends the code of a second factor.
    private func challenge(_ hints: [FactorHint], _ token: String) throws -> JSONObject {
        let usable = hints.filter { Self.carried.contains($0.kind) }
        let chosen: FactorHint
        if let id = form["id"] {
            guard let found = usable.first(where: { $0.factorId == id }) else {
                throw EntraError("invalid_request", 90100, "The id parameter names no method of the account.")
            }
            chosen = found
        } else {
            guard let first = usable.first else { return redirect("the account has no second factor that uses codes") }
            if usable.count > 1 {
                throw EntraError(
                    "invalid_request", 50076, "The account has several methods. Choose one with introspect.",
                    suberror: "introspect_required")
            }
            chosen = first
        }
        guard
            case .codeRequired(let step) = try service.mfa.challenge(
                .init(continuationToken: token, factorId: chosen.factorId, client: client, clientId: clientId), call)
        else { throw EntraError.wrongToken() }
        return sent(step)
    }

    private func sent(_ step: SignInStep.CodeRequired) -> JSONObject {
        sent(
            step.continuationToken, step.channel ?? .email, length: step.codeLength, resendAt: step.resendAt,
            ("challenge_target_label", step.sentTo ?? ""))
    }

    func introspect() throws -> JSONObject {
        let (token, flow) = try flow([.signUp, .signIn, .passwordReset, .other], at: .introspect)
        guard case .secondFactor(let hints) = flow.step, !flow.isSuperseded else { throw EntraError.wrongToken() }
        let methods = hints.filter { Self.carried.contains($0.kind) }.map { hint -> JSONValue in
            [
                "id": .string(hint.factorId), "challenge_type": "oob", "challenge_channel": .string(hint.kind.rawValue),
                "login_hint": .string(hint.sentTo ?? ""),
            ]
        }
        if methods.isEmpty { return redirect("the account has no second factor that uses codes") }
        return ["continuation_token": .string(token), "methods": .array(methods)]
    }

    /// Whether the API can carry one of the second factors.
    static func canCarry(_ hints: [FactorHint]) -> Bool { hints.contains { carried.contains($0.kind) } }
}
