import Accounts
import Contract
import JSON

/// The endpoints of password resets.
extension EntraCall {
    /// The seconds after which a client asks for the outcome. A reset is complete at once.
    private static let pollSeconds: Int64 = 2

    func resetStart() throws -> JSONObject {
        let accepts = try accepts()
        let username = try usernameParameter()
        let step = try service.passwordReset.start(
            .init(tenantId: tenant.id, username: username, client: client, clientId: clientId, accepts: accepts, send: false), call)
        switch step {
        case .codeRequired(let step): return proceed(step.continuationToken)
        case .redirectRequired(let step): return redirect(step.missing)
        case .passwordRequired, .completed: throw EntraError.wrongToken()
        }
    }

    func resetChallenge() throws -> JSONObject {
        let accepts = try challengeAccepts()
        let (token, flow) = try flow([.passwordReset], at: .resetChallenge)
        // The method behind this endpoint also takes flows that wait for a password to their next step.
        guard case .code = flow.step else { throw EntraError.wrongToken() }
        let step = try service.passwordReset.challenge(
            .init(continuationToken: token, accepts: accepts, client: client, clientId: clientId), call)
        switch step {
        case .codeRequired(let step):
            return sent(
                step.continuationToken, step.channel, length: step.codeLength, resendAt: step.resendAt,
                ("challenge_target_label", step.sentTo))
        case .redirectRequired(let step): return redirect(step.missing)
        case .passwordRequired, .completed: throw EntraError.wrongToken()
        }
    }

    func resetContinue() throws -> JSONObject {
        let grant = try form.required("grant_type")
        guard grant == "oob" else { throw EntraError("invalid_grant", 70003, "The grant_type '\(grant)' is not supported.") }
        let (token, _) = try flow([.passwordReset], at: .resetContinue)
        let step = try service.passwordReset.submitCode(
            .init(continuationToken: token, code: try code(), client: client, clientId: clientId), call)
        guard case .passwordRequired(let step) = step else { throw EntraError.wrongToken() }
        return [
            "continuation_token": .string(step.continuationToken),
            "expires_in": .number(JSONNumber(min(600, max(1, step.expiresAt - now)))),
        ]
    }

    func resetSubmit() throws -> JSONObject {
        let password = try form.required("new_password")
        let (token, _) = try flow([.passwordReset], at: .resetSubmit)
        let step = try service.passwordReset.submitPassword(
            .init(continuationToken: token, password: password, client: client, clientId: clientId), call)
        guard case .completed(let step) = step else { throw EntraError.wrongToken() }
        return ["continuation_token": .string(step.continuationToken), "poll_interval": .number(JSONNumber(Self.pollSeconds))]
    }

    func resetPoll() throws -> JSONObject {
        let (token, flow) = try flow([.passwordReset], at: .resetPoll)
        if flow.isSuperseded { throw EntraError.wrongToken() }
        switch flow.step {
        case .completed: return ["status": "succeeded", "continuation_token": .string(token)]
        case .password: return ["status": "not_started"]
        default: throw EntraError.wrongToken()
        }
    }
}
