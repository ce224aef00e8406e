import Accounts
import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// The native authentication API of Microsoft Entra External ID, version 1.
public struct EntraService: Sendable {
    private(set) var signUp: SignUpService
    private(set) var signIn: SignInService
    private(set) var passwordReset: PasswordResetService
    let mfa: MfaService
    private(set) var session: SessionService

    public init(
        signUp: SignUpService, signIn: SignInService, passwordReset: PasswordResetService, mfa: MfaService, session: SessionService
    ) {
        self.signUp = signUp
        self.signIn = signIn.issuingProfiles
        self.passwordReset = passwordReset
        self.mfa = mfa.issuingProfiles
        self.session = session.issuingProfiles
    }

    var context: AccountsContext { signIn.context }

    /// Returns this service for an application whose secret was verified, which can be confidential.
    var authenticated: Self {
        var copy = self
        copy.signUp.isClientAuthenticated = true
        copy.signIn.isClientAuthenticated = true
        copy.passwordReset.isClientAuthenticated = true
        copy.session.isClientAuthenticated = true
        return copy
    }

    /// The maximum size of a body, in bytes.
    private static let longestBody = 64 * 1024

    /// Returns the response to a request, or `nil` if it is addressed to another API.
    ///
    /// - Parameter limitsClients: Whether the limits per client address apply.
    func answer(_ request: WireRequest, limitsClients: Bool, _ call: any CallContext) throws -> WireAnswer? {
        guard let address = EntraAddress(request) else { return nil }
        let ids = EntraIds(request, context.random)
        if address.endpoint == .authorizeChallenge {
            let client = limitsClients ? request.forwardedAddress : nil
            let source = FirstPartySource(client: client, call: EntraTrace(call, ids.correlationId))
            return challengeAnswer(request, of: try signIn.tenant(address.tenantId), from: source)
        }
        guard let tenant = try signIn.tenant(address.tenantId) else {
            return address.endpoint == nil ? nil : ids.answer(EntraError.unknownTenant(address.tenantId), at: context.clock.now)
        }
        let headers = EntraOrigins.headers(for: request, of: tenant, isTesting: context.service.isTesting)
        if request.method == "OPTIONS" { return EntraOrigins.preflight(for: request, headers) }
        var answer: WireAnswer
        do {
            guard let endpoint = address.endpoint else {
                throw EntraError("invalid_request", 90130, "There is no endpoint at this address.", status: 404)
            }
            answer = ids.answer(try body(of: endpoint, request, tenant, limitsClients: limitsClients, EntraTrace(call, ids.correlationId)))
        } catch let error as EntraError {
            answer = ids.answer(error, to: request, at: context.clock.now)
        } catch let error as ChosenError {
            answer = ids.answer(EntraError("server_error", 90033, error.message), at: context.clock.now)
        } catch let error as any ContractError {
            answer = ids.answer(EntraError(error), to: request, at: context.clock.now)
        } catch is StoreError {
            answer = ids.answer(EntraError("server_error", 90033, "The store failed.", status: 503), at: context.clock.now)
        }
        answer.headers += headers
        return answer
    }

    private func body(
        of endpoint: EntraEndpoint, _ request: WireRequest, _ tenant: TenantRecord, limitsClients: Bool, _ call: any CallContext
    ) throws -> JSONObject {
        if let document = try discovery(endpoint, request, tenant) { return document }
        guard request.method == "POST" else {
            throw EntraError(
                "invalid_request", 900561, "The endpoint accepts POST requests only. Received a \(request.method) request.", status: 405)
        }
        guard request.body.utf8.count <= Self.longestBody else {
            throw EntraError("invalid_request", 90100, "The body is longer than 64 KiB.")
        }
        let form = try EntraForm(request)
        var source = FirstPartySource(client: limitsClients ? request.forwardedAddress : nil, call: call)
        // Only these grants are for confidential applications too: the others belong to the native API, which has public ones only.
        if endpoint == .token, ["authorization_code", "refresh_token"].contains(form["grant_type"]) {
            source.authenticated = try ClientCredentials(request, form).authenticated(of: tenant, context)
        }
        return try EntraCall(self, form, of: tenant, from: source).answer(endpoint)
    }

    /// Returns the metadata of the tenant (OpenID Connect Discovery 1.0), or `nil` for another endpoint.
    private func discovery(_ endpoint: EntraEndpoint, _ request: WireRequest, _ tenant: TenantRecord) throws -> JSONObject? {
        switch endpoint {
        case .configuration:
            let base = EntraAddress.base(of: request, tenantId: tenant.id)
            return [
                "issuer": .string(context.realm.issuer(of: .tenant(tenant.id))),
                "authorization_endpoint": .string("\(base)/oauth2/v2.0/authorize"),
                "token_endpoint": .string("\(base)/oauth2/v2.0/token"), "jwks_uri": .string("\(base)/discovery/v2.0/keys"),
                "response_types_supported": ["code", "id_token"], "subject_types_supported": ["pairwise"],
                "id_token_signing_alg_values_supported": [.string(tenant.settings.signingAlgorithm.rawValue)],
            ]
        case .serverMetadata: return serverMetadata(EntraAddress.base(of: request, tenantId: tenant.id), tenant)
        case .keys: return ["keys": .array(try signIn.publishedKeys(of: tenant).map { .object($0) })]
        case .authorize:
            throw EntraError("invalid_request", 90130, "This service has no pages for sign-in. Use the native endpoints.", status: 404)
        default: return nil
        }
    }
}

extension WireRequest {
    /// The first address of `X-Forwarded-For`.
    var forwardedAddress: ClientOrigin? {
        let first = header("x-forwarded-for")?.split(separator: ",").first.map { $0.filter { $0 != " " } }
        return first.flatMap { $0.count >= 2 && $0.count <= 45 ? ClientOrigin(address: $0) : nil }
    }
}

/// A call whose trace is the correlation ID of the request.
private struct EntraTrace: CallContext {
    private let inner: any CallContext
    let trace: String?

    init(_ inner: any CallContext, _ trace: String) {
        self.inner = inner
        self.trace = trace
    }

    var actor: String? { inner.actor }
    var isCancelled: Bool { inner.isCancelled }
    var storeAccess: StoreAccess { inner.storeAccess }
    var isPublicCaller: Bool { inner.isPublicCaller }
    func progress(_ value: JSONValue) { inner.progress(value) }
    var mayAnswerLater: Bool { false }
}

/// The identifiers of a request, which headers and errors repeat.
struct EntraIds {
    let correlationId: String
    let traceId: String

    init(_ request: WireRequest, _ random: any RandomSource) {
        let given = request.header("client-request-id") ?? ""
        correlationId = Self.isUUID(given) ? given : random.uuid()
        traceId = random.uuid()
    }

    private static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.utf8.allSatisfy { Hex.decode("0\(Character(UnicodeScalar($0)))") != nil } }
    }

    private var headers: [(name: String, value: String)] {
        [
            ("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store"), ("pragma", "no-cache"),
            ("client-request-id", correlationId), ("x-ms-request-id", traceId),
        ]
    }

    func answer(_ body: JSONObject) -> WireAnswer { WireAnswer(status: 200, headers: headers, body: JSONValue.object(body).text) }

    /// A client that authenticated with a header gets the status of RFC 6749 §5.2.
    func answer(_ error: EntraError, to request: WireRequest, at now: Int64) -> WireAnswer {
        guard error.error == "invalid_client", request.header("authorization") != nil else { return answer(error, at: now) }
        var error = error
        error.status = 401
        var answer = answer(error, at: now)
        answer.headers.append(("www-authenticate", "Basic realm=\"mintmark\""))
        return answer
    }

    func answer(_ error: EntraError, at now: Int64) -> WireAnswer {
        var body = error.body
        let code = error.codes.first ?? 50000
        body["error_description"] = .string(FirstPartyError.described("AADSTS\(code): \(error.message)"))
        body["timestamp"] = .string(EntraTime.text(now))
        body["trace_id"] = .string(traceId)
        body["correlation_id"] = .string(correlationId)
        var more = error.retryAfterSeconds.map { [("retry-after", "\($0)")] } ?? []
        if error.status == 405 { more.append(("allow", "POST")) }
        return WireAnswer(status: error.status, headers: headers + more, body: JSONValue.object(body).text)
    }
}
