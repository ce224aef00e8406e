import Accounts
import Contract
import JSON

/// The endpoints that register a second factor during a sign-in.
extension EntraCall {
    private static let kinds: [PendingFlow.Kind] = [.signUp, .signIn, .passwordReset, .other]

    /// Whether the API can register a factor of a kind: those that use codes which are sent.
    static func canRegister(_ kind: FactorKind) -> Bool { kind == .email || kind == .sms }

    func registerIntrospect() throws -> JSONObject {
        let (token, flow) = try flow(Self.kinds, at: .registerIntrospect)
        guard case .enrollment(let kinds) = flow.step, !flow.isSuperseded else { throw EntraError.wrongToken() }
        let address = try service.signIn.account(flow.accountId)?.email
        let methods = kinds.filter { Self.canRegister($0.kind) }.map { kind -> JSONValue in
            [
                "id": .string(kind.kind.rawValue), "challenge_type": "oob", "challenge_channel": .string(kind.kind.rawValue),
                "login_hint": .string(kind.verified == true ? address ?? "" : ""),
            ]
        }
        if methods.isEmpty { return redirect("the tenant requires a second factor that does not use codes") }
        return ["continuation_token": .string(token), "methods": .array(methods)]
    }

    func registerChallenge() throws -> JSONObject {
        let type = try form.required("challenge_type")
        guard type.split(separator: " ").contains("oob") else {
            throw EntraError("invalid_request", 901007, "The challenge_type must be oob.")
        }
        let target = form.isEmpty("challenge_target") ? "" : try form.required("challenge_target")
        let channel = (form["challenge_channel"] ?? "email").lowercased()
        let (token, flow) = try flow(Self.kinds, at: .registerChallenge)
        switch flow.step {
        case .enrollment, .enrollmentCode: break
        default: throw EntraError.wrongToken()
        }
        guard let kind = FactorKind(rawValue: channel), Self.canRegister(kind) else {
            throw EntraError("invalid_request", 901001, "The challenge_channel must be email or sms.")
        }
        guard (1...320).contains(target.unicodeScalars.count) else {
            throw EntraError("invalid_request", 901001, "The challenge_target is empty or too long.")
        }
        let step = try service.mfa.enroll(
            .init(
                account: .continuationToken(token), kind: kind, email: kind == .email ? target : nil,
                phoneNumber: kind == .sms ? target : nil, client: client, clientId: clientId, skipVerified: true), call)
        switch step {
        case .email(let step) where step.verified == true:
            return ["challenge_type": "preverified", "continuation_token": .string(step.continuationToken)]
        case .email(let step):
            return sent(
                step.continuationToken, .email, length: step.codeLength, resendAt: step.resendAt, ("challenge_target", target))
        case .sms(let step):
            return sent(step.continuationToken, .sms, length: step.codeLength, resendAt: step.resendAt, ("challenge_target", target))
        case .totp, .passkey: throw EntraError.wrongToken()
        }
    }

    func registerContinue() throws -> JSONObject {
        let grant = try form.required("grant_type")
        guard ["oob", "continuation_token"].contains(grant) else {
            throw EntraError("invalid_grant", 70003, "The grant_type '\(grant)' is not supported.")
        }
        let (token, flow) = try flow(Self.kinds, at: .registerContinue)
        switch flow.step {
        case .enrollmentCode, .completed: break
        default: throw EntraError.wrongToken()
        }
        let step: SignInStep
        do {
            step = try service.mfa.confirm(
                .init(
                    continuationToken: token, proof: grant == "oob" ? .code(try code()) : nil, client: client, clientId: clientId,
                    deferTokens: true), call)
        } catch is InvalidParams {
            // The factor needs a code, but the client says that it is verified already.
            throw EntraError.wrongToken()
        }
        guard case .tokensDeferred(let step) = step else { throw EntraError.wrongToken() }
        return proceed(step.continuationToken)
    }
}
