import Accounts
import Contract
import JSON

/// One request to an endpoint, whose application has been checked.
struct EntraCall {
    let service: EntraService
    let form: EntraForm
    let tenant: TenantRecord
    let clientId: String
    /// The origin of the request, for rate limits.
    let client: ClientOrigin?
    let call: any CallContext

    /// - Throws: `EntraError` if the application is missing or cannot use the API.
    init(_ service: EntraService, _ form: EntraForm, of tenant: TenantRecord, from source: FirstPartySource) throws {
        guard let clientId = form["client_id"] ?? source.authenticated else {
            throw EntraError("invalid_request", 90100, "client_id parameter is empty or not valid")
        }
        let isAuthenticated = source.authenticated == clientId
        self.service = isAuthenticated ? service.authenticated : service
        self.form = form
        self.tenant = tenant
        self.clientId = clientId
        client = source.client
        call = source.call
        do { _ = try tenant.nativeApplication(clientId, isAuthenticated: isAuthenticated) } catch let error as any ContractError {
            throw EntraError(error)
        }
    }

    var now: Int64 { service.context.clock.now }

    func answer(_ endpoint: EntraEndpoint) throws -> JSONObject {
        do {
            switch endpoint {
            case .signUpStart: return try signUpStart()
            case .signUpChallenge: return try signUpChallenge()
            case .signUpContinue: return try signUpContinue()
            case .initiate: return try initiate()
            case .challenge: return try challenge()
            case .introspect: return try introspect()
            case .token: return try token()
            case .resetStart: return try resetStart()
            case .resetChallenge: return try resetChallenge()
            case .resetContinue: return try resetContinue()
            case .resetSubmit: return try resetSubmit()
            case .resetPoll: return try resetPoll()
            case .registerIntrospect: return try registerIntrospect()
            case .registerChallenge: return try registerChallenge()
            case .registerContinue: return try registerContinue()
            case .configuration, .keys, .authorize, .authorizeChallenge, .serverMetadata:
                throw EntraError("invalid_request", 90100, "The endpoint does not exist.", status: 404)
            }
        } catch let error as any ContractError {
            throw EntraError(error, at: endpoint)
        }
    }

    // MARK: Challenge types, capabilities and redirection

    /// The challenge types of the request.
    ///
    /// - Throws: `EntraError` if a type is unknown, or `redirect` is missing.
    func challengeTypes(isOptional: Bool = false) throws -> [String] {
        let types = form.words("challenge_type")
        if types.isEmpty, isOptional { return ["oob", "password", "redirect"] }
        if types.isEmpty { _ = try form.required("challenge_type") }
        if let unknown = types.first(where: { !["oob", "password", "redirect"].contains($0) }) {
            throw EntraError("invalid_request", 901007, "The challenge type '\(unknown)' is not supported.")
        }
        guard types.contains("redirect") else {
            throw EntraError("unsupported_challenge_type", 901007, "The challenge_type parameter must contain 'redirect'.")
        }
        return types
    }

    /// The parts of a flow that the application carries out, from the parameters of a start.
    func accepts() throws -> [FlowCapability] {
        let types = try challengeTypes()
        let capabilities = form.words("capabilities") + form.words("capability")
        let all: [(FlowCapability, Bool)] = [
            (.code, types.contains("oob")), (.password, types.contains("password")),
            (.secondFactor, capabilities.contains("mfa_required")), (.enrollment, capabilities.contains("registration_required")),
        ]
        return all.filter(\.1).map(\.0)
    }

    /// Returns the parts that a request for a challenge names.
    func challengeAccepts(isOptional: Bool = false) throws -> [FlowCapability] {
        let types = try challengeTypes(isOptional: isOptional)
        return (types.contains("oob") ? [.code] : []) + (types.contains("password") ? [.password] : [])
    }

    func redirect(_ missing: [FlowCapability]) -> JSONObject {
        let reasons = missing.map { part -> String in
            switch part {
            case .code: "challenge type oob is required"
            case .password: "challenge type password is required"
            case .secondFactor: "capability mfa_required is required"
            case .enrollment: "capability registration_required is required"
            case .provider: "the account signs in with an identity provider in a browser"
            }
        }
        return redirect(reasons.joined(separator: ", "))
    }

    func redirect(_ reason: String) -> JSONObject { ["challenge_type": "redirect", "redirect_reason": .string(reason)] }

    // MARK: Continuation tokens

    /// Returns the flow of the continuation token.
    ///
    /// - Throws: `EntraError` if the token belongs to another tenant, application or kind of flow.
    func flow(_ kinds: [PendingFlow.Kind], at endpoint: EntraEndpoint) throws -> (token: String, flow: PendingFlow) {
        let token = try form.required("continuation_token")
        let flow = try service.signIn.pendingFlow(ofToken: token)
        guard flow.tenant.id == tenant.id, flow.clientId == clientId, kinds.contains(flow.kind) else {
            throw EntraError.wrongToken(at: endpoint)
        }
        return (token, flow)
    }

    func proceed(_ token: String) -> JSONObject { ["continuation_token": .string(token)] }

    /// The code, which must consist of digits.
    ///
    /// - Throws: `EntraError` for other text, which is not counted as an attempt.
    func code() throws -> String {
        if form.isEmpty("oob") { throw EntraError.wrongCode }
        let code = try form.required("oob")
        guard code.utf8.count <= 64, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw EntraError.wrongCode }
        return code
    }

    /// The response for a code that was sent.
    func sent(_ token: String, _ channel: Channel, length: Int64, resendAt: Int64?, _ target: (String, String)) -> JSONObject {
        [
            "challenge_type": "oob", "binding_method": "prompt", "challenge_channel": .string(channel.rawValue),
            target.0: .string(target.1), "code_length": .number(JSONNumber(length)),
            "interval": .number(JSONNumber(max(0, (resendAt ?? now) - now))), "continuation_token": .string(token),
        ]
    }
}
