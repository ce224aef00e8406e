import Accounts
import Contract
import JSON

/// The endpoints of sign-ups.
extension EntraCall {
    func signUpStart() throws -> JSONObject {
        let accepts = try accepts()
        let username = try usernameParameter()
        if tenant.localAccountMethod == .passkey {
            return redirect("the tenant makes accounts with passkeys, which this API cannot register")
        }
        let step = try service.signUp.start(
            SignUpStart.Params(
                tenantId: tenant.id, username: username, password: form["password"], attributes: try attributes(), client: client,
                clientId: clientId, accepts: accepts, send: false), call)
        switch step {
        case .codeRequired(let step): return proceed(step.continuationToken)
        case .redirectRequired(let step): return redirect(step.missing)
        case .passwordRequired(let step): return proceed(step.continuationToken)
        case .attributesRequired(let step): return proceed(step.continuationToken)
        case .passkeyRequired: return redirect("the tenant makes accounts with passkeys, which this API cannot register")
        case .completed(let step): return proceed(step.continuationToken)
        }
    }

    func signUpChallenge() throws -> JSONObject {
        let accepts = try challengeAccepts()
        let (token, flow) = try flow([.signUp], at: .signUpChallenge)
        switch flow.step {
        case .code, .password: break
        default: throw EntraError.wrongToken()
        }
        switch try service.signUp.challenge(.init(continuationToken: token, accepts: accepts, client: client, clientId: clientId), call) {
        case .codeRequired(let step):
            return sent(
                step.continuationToken, step.channel, length: step.codeLength, resendAt: step.resendAt,
                ("challenge_target_label", step.sentTo))
        case .passwordRequired(let step):
            return ["challenge_type": "password", "continuation_token": .string(step.continuationToken)]
        case .redirectRequired(let step): return redirect(step.missing)
        case .passkeyRequired: return redirect("the tenant makes accounts with passkeys, which this API cannot register")
        case .attributesRequired, .completed: throw EntraError.wrongToken()
        }
    }

    func signUpContinue() throws -> JSONObject {
        let grant = try form.required("grant_type")
        let (token, flow) = try flow([.signUp], at: .signUpContinue)
        let step: SignUpStep
        switch grant {
        case "oob":
            step = try service.signUp.submitCode(
                .init(continuationToken: token, code: try code(), client: client, clientId: clientId), call)
        case "password":
            step = try service.signUp.submitPassword(
                .init(continuationToken: token, password: try form.required("password"), client: client, clientId: clientId), call)
        case "attributes":
            guard let attributes = try attributes() else { _ = try form.required("attributes"); throw EntraError.wrongToken() }
            step = try service.signUp.submitAttributes(
                .init(continuationToken: token, attributes: attributes, client: client, clientId: clientId), call)
        default: throw EntraError("invalid_grant", 70003, "The grant_type '\(grant)' is not supported.")
        }
        switch step {
        case .completed(let step): return proceed(step.continuationToken)
        case .codeRequired(let step):
            let names: [JSONValue] = [["name": "username"]]
            throw EntraError("verification_required", 55104, "The email address must be verified first.")
                .continued(with: step.continuationToken, more: ["unverified_attributes": .array(names)])
        case .passwordRequired(let step):
            throw EntraError("credential_required", 55103, "A password is required.").continued(with: step.continuationToken)
        case .attributesRequired(let step):
            throw EntraError("attributes_required", 55106, "Attributes are required.")
                .continued(
                    with: step.continuationToken, more: ["required_attributes": .array(step.attributes.map(Self.required))])
        case .redirectRequired, .passkeyRequired:
            // Clients take any other response than an error for a completed sign-up.
            throw EntraError("invalid_request", 55200, "The application cannot continue the sign-up of \(flow.tenant.id).")
        }
    }

    /// The username of a start.
    ///
    /// - Throws: `EntraError` with the phrase that clients look for.
    func usernameParameter() throws -> String {
        guard let username = form["username"], username.unicodeScalars.count <= 320 else {
            throw EntraError("invalid_request", 90100, "username parameter is empty or not valid")
        }
        return username
    }

    /// The submitted attributes that the tenant defines; `nil` if the parameter is missing.
    private func attributes() throws -> JSONObject? {
        guard let text = form["attributes"] else { return nil }
        guard let object = (try? JSONValue(parsing: text))?.object else {
            throw EntraError("invalid_request", 90100, "The attributes parameter is not a JSON object.")
        }
        var known = JSONObject()
        for (name, value) in object.members where tenant.attributes.contains(where: { $0.name == name }) { known[name] = value }
        return known
    }

    static func required(_ attribute: TenantAttribute) -> JSONValue {
        var object: JSONObject = [
            "name": .string(attribute.name), "type": .string(attribute.type.rawValue), "required": .bool(attribute.required),
        ]
        object["options"] = attribute.pattern.map { ["regex": .string($0)] }
        return .object(object)
    }
}
