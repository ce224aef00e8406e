import Accounts
import Contract
import JSON

/// The steps of the authorization challenge endpoint.
extension FirstPartyCall {
    private var clientId: String { state.clientId }
    private var token: String { state.token }

    // MARK: The first request

    func start() throws -> FirstPartyOutcome {
        guard let username = form["login_hint"] ?? form["username"], username.unicodeScalars.count <= 320 else {
            throw FirstPartyError("invalid_request", "login_hint is missing: it names the account by its email address.")
        }
        let accepts = try accepts()
        switch state.kind {
        case .signIn:
            let outcome = FirstPartyOutcome(
                try service.signIn.start(
                    .init(tenantId: tenant.id, username: username, client: client, clientId: clientId, accepts: accepts), call))
            guard case .more(.password, let token, _, _) = outcome, form["password"] != nil else { return outcome }
            var copy = self
            copy.take(token, .password)
            return try copy.proceed()
        case .signUp:
            return try signedUp(
                try service.signUp.start(
                    .init(
                        tenantId: tenant.id, username: username, password: form["password"], attributes: try attributes(), client: client,
                        clientId: clientId, accepts: accepts), call))
        case .reset:
            return try reset(
                try service.passwordReset.start(
                    .init(tenantId: tenant.id, username: username, client: client, clientId: clientId, accepts: accepts), call))
        }
    }

    /// The parts of the flow that the application carries out; `nil` for all.
    private func accepts() throws -> [FlowCapability]? {
        guard form["accepts"] != nil else { return nil }
        let names: [String: FlowCapability] = [
            "code": .code, "password": .password, "second_factor": .secondFactor, "enrolment": .enrollment, "provider": .provider,
        ]
        return try form.words("accepts").map { word in
            guard let part = names[word] else {
                throw FirstPartyError(
                    "invalid_request", "accepts contains '\(word)'. Known are \(names.keys.sorted().joined(separator: ", ")).")
            }
            return part
        }
    }

    /// The attributes of the user, a JSON object.
    private func attributes() throws -> JSONObject? {
        guard let text = form["attributes"] else { return nil }
        guard let object = (try? JSONValue(parsing: text))?.object else {
            throw FirstPartyError("invalid_request", "attributes is not a JSON object.")
        }
        return object
    }

    // MARK: Further requests

    func proceed() throws -> FirstPartyOutcome {
        if form["resend"] == "true" { return try resent() }
        switch (state.kind, state.next) {
        case (_, .secondFactor): return try secondFactor()
        case (_, .enrollment): return try enrollment()
        case (.signIn, .code) where form["password"] != nil && tenant.enumerationProtection, (.signIn, .password):
            return FirstPartyOutcome(
                try service.signIn.deferringTokens.submitPassword(
                    .init(
                        continuationToken: token, password: try required("password"), audience: asked.audience, scope: asked.scope,
                        client: client, clientId: clientId), call))
        case (.signIn, .code):
            return FirstPartyOutcome(
                try service.signIn.deferringTokens.submitCode(
                    .init(
                        continuationToken: token, code: try code(), audience: asked.audience, scope: asked.scope, client: client,
                        clientId: clientId), call))
        case (.signUp, .code):
            return try signedUp(
                try service.signUp.submitCode(.init(continuationToken: token, code: try code(), client: client, clientId: clientId), call))
        case (.signUp, .password):
            return try signedUp(
                try service.signUp.submitPassword(
                    .init(continuationToken: token, password: try required("password"), client: client, clientId: clientId), call))
        case (.signUp, .attributes):
            let given = try attributes()
            guard let given else { throw missing("attributes") }
            return try signedUp(
                try service.signUp.submitAttributes(
                    .init(continuationToken: token, attributes: given, client: client, clientId: clientId), call))
        case (.reset, .code):
            return try reset(
                try service.passwordReset.submitCode(
                    .init(continuationToken: token, code: try code(), client: client, clientId: clientId), call))
        case (.reset, .newPassword):
            return try reset(
                try service.passwordReset.submitPassword(
                    .init(continuationToken: token, password: try required("new_password"), client: client, clientId: clientId), call))
        default: throw FirstPartyError.invalidSession
        }
    }

    private func missing(_ name: String) -> FirstPartyError {
        FirstPartyError("invalid_request", "\(name) is missing: the next step is \(state.next.rawValue). The auth_session stays valid.")
    }

    private func required(_ name: String) throws -> String {
        guard let value = form[name] else { throw missing(name) }
        return value
    }

    private func code() throws -> String {
        let code = try required("code")
        guard code.utf8.count <= 64 else { throw FirstPartyError("invalid_request", "The code is too long. The auth_session stays valid.") }
        return code
    }

    /// Sends another code.
    private func resent() throws -> FirstPartyOutcome {
        guard state.next == .code else {
            throw FirstPartyError("invalid_request", "resend sends another code, but the next step is \(state.next.rawValue).")
        }
        switch state.kind {
        case .signIn:
            return FirstPartyOutcome(
                try service.signIn.challenge(.init(continuationToken: token, client: client, clientId: clientId), call))
        case .signUp:
            return try signedUp(try service.signUp.challenge(.init(continuationToken: token, client: client, clientId: clientId), call))
        case .reset:
            return try reset(try service.passwordReset.challenge(.init(continuationToken: token, client: client, clientId: clientId), call))
        }
    }

    private func signedUp(_ step: SignUpStep) throws -> FirstPartyOutcome {
        switch step {
        case .codeRequired(let step):
            return .more(
                .code, step.continuationToken,
                FirstPartyOutcome.code(step.sentTo, step.channel, length: step.codeLength, expiresAt: step.expiresAt))
        case .passwordRequired(let step): return .more(.password, step.continuationToken)
        case .attributesRequired(let step):
            return .more(.attributes, step.continuationToken, ["required_attributes": .array(step.attributes.map(EntraCall.required))])
        case .completed(let step): return try finished(step.continuationToken)
        case .redirectRequired(let step): return .web(step.reason)
        case .passkeyRequired: return .web("The tenant creates accounts with passkeys.")
        }
    }

    private func reset(_ step: PasswordResetStep) throws -> FirstPartyOutcome {
        switch step {
        case .codeRequired(let step):
            return .more(
                .code, step.continuationToken,
                FirstPartyOutcome.code(step.sentTo, step.channel, length: step.codeLength, expiresAt: step.expiresAt))
        case .passwordRequired(let step): return .more(.newPassword, step.continuationToken)
        case .completed(let step): return try finished(step.continuationToken)
        case .redirectRequired(let step): return .web(step.reason)
        }
    }

    /// Signs in after a sign-up or a reset. A second factor can be necessary.
    private func finished(_ token: String) throws -> FirstPartyOutcome {
        FirstPartyOutcome(
            try service.signIn.deferringTokens.withContinuation(
                .init(continuationToken: token, audience: asked.audience, scope: asked.scope, client: client, clientId: clientId), call))
    }

    // MARK: Second factors

    private func secondFactor() throws -> FirstPartyOutcome {
        if form["code"] != nil {
            return FirstPartyOutcome(
                try service.mfa.resolve(
                    .init(
                        continuationToken: token, factorId: form["factor_id"], proof: .code(try code()), audience: asked.audience,
                        client: client, clientId: clientId, deferTokens: true), call))
        }
        let step = try service.mfa.challenge(
            .init(continuationToken: token, factorId: try required("factor_id"), client: client, clientId: clientId), call)
        guard case .codeRequired(let step) = step else { return .web("The second factor is a passkey.") }
        let members = FirstPartyOutcome.code(
            step.sentTo, step.channel ?? .email, length: step.codeLength, expiresAt: step.expiresAt)
        return .more(.secondFactor, token: step.continuationToken, members, awaitsCode: true)
    }

    private func enrollment() throws -> FirstPartyOutcome {
        if state.awaitsCode, form["enrol_kind"] == nil { return try confirmed(token, .code(try code())) }
        guard let kind = FactorKind(rawValue: try required("enrol_kind")), kind != .passkey else {
            throw FirstPartyError("invalid_request", "enrol_kind must be email, sms or totp.")
        }
        let target = kind == .totp ? nil : try required("enrol_target")
        guard (target ?? "").unicodeScalars.count <= 320 else { throw FirstPartyError("invalid_request", "enrol_target is too long.") }
        let step = try service.mfa.enroll(
            .init(
                account: .continuationToken(token), kind: kind, email: kind == .email ? target : nil,
                phoneNumber: kind == .sms ? target : nil, client: client, clientId: clientId, skipVerified: true), call)
        switch step {
        case .email(let step) where step.verified == true: return try confirmed(step.continuationToken, nil)
        case .email(let step):
            return enrolling(step.continuationToken, .code(step.sentTo, .email, length: step.codeLength, expiresAt: step.expiresAt))
        case .sms(let step):
            return enrolling(step.continuationToken, .code(step.sentTo, .sms, length: step.codeLength, expiresAt: step.expiresAt))
        case .totp(let step):
            return enrolling(
                step.continuationToken,
                [
                    "secret": .string(step.secret), "otpauth_uri": .string(step.otpauthUri),
                    "code_length": .number(JSONNumber(step.codeLength)), "expires_at": .number(JSONNumber(step.expiresAt)),
                ])
        case .passkey: return .web("The factor is a passkey.")
        }
    }

    private func enrolling(_ token: String, _ members: JSONObject) -> FirstPartyOutcome {
        .more(.enrollment, token: token, members, awaitsCode: true)
    }

    private func confirmed(_ token: String, _ proof: MfaConfirm.Params.Proof?) throws -> FirstPartyOutcome {
        FirstPartyOutcome(
            try service.mfa.confirm(
                .init(continuationToken: token, proof: proof, client: client, clientId: clientId, deferTokens: true), call))
    }
}

extension JSONObject {
    /// The members for a code that was sent.
    fileprivate static func code(_ sentTo: String?, _ channel: Channel, length: Int64, expiresAt: Int64) -> JSONObject {
        FirstPartyOutcome.code(sentTo, channel, length: length, expiresAt: expiresAt)
    }
}
