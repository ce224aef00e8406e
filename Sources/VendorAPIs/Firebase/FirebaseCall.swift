import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// One request to the Identity Toolkit API.
struct FirebaseCall {
    let service: FirebaseService
    let request: WireRequest
    let path: FirebasePath
    let endpoint: FirebaseEndpoint
    let project: String
    /// The tenant of the project, or `nil` for the project itself.
    private(set) var firebaseTenant: String?
    let isAdmin: Bool
    private(set) var body: FirebaseInput
    let call: any CallContext

    static let method = "compat.http"

    var context: AccountsContext { service.context }
    var now: Int64 { context.clock.now }
    /// The tenant of this store.
    var tenantId: String { firebaseTenant.map { "\(project).\($0)" } ?? project }
    var tokens: FirebaseTokens { FirebaseTokens(projectId: project) }
    func query(_ name: String) -> String? { request.parameter(name) }

    /// The address of the page that does what a link says: at the address to which the request came.
    var actionPage: String {
        let host = request.header("host") ?? "127.0.0.1"
        return endpoint.isTest ? "http://\(host)/emulator/action" : "https://\(host)/__/auth/action"
    }

    static func answer(
        _ request: WireRequest, by service: FirebaseService, at endpoint: FirebaseEndpoint, _ call: any CallContext
    ) throws -> WireAnswer {
        let path = FirebasePath(request.url)
        if !endpoint.isTest, path.host.isEmpty || path.host == "emulator" { throw FirebaseError.notFound }
        switch path.host {
        case "": return .json(["authEmulator": ["ready": true, "docs": "mintmark help migrating-from-firebase"]])
        case "identitytoolkit.googleapis.com":
            let made = try FirebaseCall(service, request, at: endpoint, call)
            return .json(try made.toolkit())
        case "securetoken.googleapis.com":
            guard path.version == "v1", path.name == "token", request.method == "POST" else { throw FirebaseError.notFound }
            let made = try FirebaseCall(service, request, at: endpoint, call)
            return .json(try made.token())
        case "www.googleapis.com":
            let made = try FirebaseCall(service, request, at: endpoint, call)
            return try made.publishedKeys() ?? .json(made.older())
        case "emulator":
            return try FirebaseCall(service, request, at: endpoint, call).emulator()
        default: throw FirebaseError.notFound
        }
    }

    init(_ service: FirebaseService, _ request: WireRequest, at endpoint: FirebaseEndpoint, _ call: any CallContext) throws {
        (self.service, self.request, self.endpoint, self.call) = (service, request, endpoint, call)
        path = FirebasePath(request.url)
        let isForm = request.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true
        if isForm {
            var members = JSONObject()
            for (name, value) in request.parameters { members[name] = .string(value) }
            body = FirebaseInput(members)
        } else {
            body = try FirebaseInput(body: request.method == "GET" || request.method == "DELETE" ? "" : request.body)
        }
        isAdmin = try Self.isAdministrator(request, path, endpoint)
        let target = try body.filled("targetProjectId")
        if target != nil, !isAdmin {
            throw FirebaseError("INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id.")
        }
        project = path.project ?? target ?? endpoint.projectId
        // The host has authenticated the caller for this project only.
        if !endpoint.isTest, project != endpoint.projectId { throw FirebaseError("CONFIGURATION_NOT_FOUND : The project is another one.") }
        // Every project that a test names exists, as at the emulator.
        if isAdmin, endpoint.isTest, project != endpoint.projectId, Self.isProjectId(project) { try service.open(project: project, call) }
        let given = try body.filled("tenantId") ?? request.parameter("tenantId").flatMap { $0.isEmpty ? nil : $0 }
        if let inPath = path.tenant, let given, inPath != given { throw FirebaseError("TENANT_ID_MISMATCH") }
        let token = try (body.filled("idToken")).flatMap { FirebaseTokens.claims(of: $0) }
        let inToken = token?["firebase"]?.object?["tenant"]?.string
        let named = path.tenant ?? given
        if let inToken, let named, inToken != named { throw FirebaseError("TENANT_ID_MISMATCH") }
        firebaseTenant = named ?? inToken
    }

    /// Whether a text can be the ID of a project: 6 to 30 lowercase letters, digits and hyphens, with a letter first.
    private static func isProjectId(_ text: String) -> Bool {
        (6...30).contains(text.utf8.count) && text.utf8.first.map { (0x61...0x7A).contains($0) } == true
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    /// Returns whether an administrator sends the request.
    ///
    /// - Throws: `FirebaseError` if the caller cannot send it.
    private static func isAdministrator(
        _ request: WireRequest, _ path: FirebasePath, _ endpoint: FirebaseEndpoint
    ) throws -> Bool {
        let isPublic = path.version == "robot" || path.version == "service_accounts" || path.path.hasSuffix("/relyingparty/publicKeys")
        if isPublic, request.method == "GET" { return false }
        switch endpoint.caller {
        case .administrator: return true
        case .client:
            if path.project != nil { throw FirebaseError.noCredential }
            return false
        case .named: break
        }
        if path.host == "emulator" { return true }
        let bearer = request.header("authorization").flatMap { value -> String? in
            let parts = value.split(separator: " ", maxSplits: 1)
            return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
        }
        if let bearer {
            guard bearer.lowercased() == "owner" || bearer.hasPrefix("ya29.") else { throw FirebaseError.badCredential }
            return true
        }
        if path.project != nil { throw FirebaseError.noCredential }
        guard request.parameter("key")?.isEmpty == false || request.header("x-goog-api-key")?.isEmpty == false else {
            throw FirebaseError.noKey
        }
        return false
    }

    /// Returns the same call with another body.
    func copy(with members: JSONObject) throws -> FirebaseCall {
        var copy = self
        copy.body = FirebaseInput(members)
        return copy
    }

    /// Returns the same call for a tenant of the project.
    func copy(tenant: String) -> FirebaseCall {
        var copy = self
        copy.firebaseTenant = tenant
        return copy
    }

    /// Performs a call of the Identity Toolkit API, version 1 or 2.
    private func toolkit() throws -> JSONObject {
        let name = path.name
        if let result = try configuration() ?? keySet() { return result }
        let first = name.prefix { $0 != "/" && $0 != ":" }
        if Self.foreign.contains(first.isEmpty ? name[...] : first) { throw FirebaseError.notOffered(name) }
        if path.version == "v1" || path.version == "v2" { try requireEnabled() }
        guard request.method == "POST" || request.method == "GET" else { throw FirebaseError.notFound }
        if name == "accounts", request.method == "POST" { return try signUp() }
        if name == ":queryAccounts" { return try accounts("query") }
        if name == ":createSessionCookie" { return try createSessionCookie() }
        if path.version == "v2", let result = try factorCall(name) { return result }
        guard name.hasPrefix("accounts:") else { throw FirebaseError.notFound }
        return try accounts(String(name.dropFirst("accounts:".count)))
    }

    /// Calls of the original API that are not offered, by the first part of their name.
    private static let foreign: Set<Substring> = [
        "identityPlatform", ":getIamPolicy", ":setIamPolicy", ":testIamPermissions",
    ]

    func accounts(_ name: String) throws -> JSONObject {
        switch (name, isAdmin) {
        case ("signUp", _): return try signUp()
        case ("lookup", _): return try lookup()
        case ("update", _): return try update()
        case ("delete", _): return try delete()
        case ("signInWithPassword", _): return try signInWithPassword()
        case ("signInWithCustomToken", _): return try signInWithCustomToken()
        case ("signInWithEmailLink", _): return try signInWithEmailLink()
        case ("sendOobCode", _): return try sendOobCode()
        case ("resetPassword", _): return try resetPassword()
        case ("createAuthUri", _): return try createAuthUri()
        case ("signInWithIdp", _): return try signInWithIdp()
        case ("batchGet", true): return try batchGet()
        case ("batchCreate", true): return try batchCreate()
        case ("batchDelete", true): return try batchDelete()
        case ("query", true): return try queryAccounts()
        case ("batchGet", false), ("batchCreate", false), ("batchDelete", false), ("query", false): throw FirebaseError.noCredential
        case ("sendVerificationCode", _): return try sendVerificationCode()
        case ("signInWithPhoneNumber", _): return try signInWithPhoneNumber()
        case ("signInWithGameCenter", _): throw Self.gameCenterRefused
        case ("revokeToken", _): return try revokeToken()
        case ("verifyIosClient", _), ("issueSamlResponse", _): throw FirebaseError.notOffered("accounts:\(name)")
        default: throw FirebaseError.notFound
        }
    }

    /// Returns the account of the tenant with an ID, or `nil`.
    func facts(_ id: String) throws -> AccountFacts? {
        try context.database.read { tx in
            guard let account = try tx.account(id), account.tenantId == tenantId else { return nil }
            return try AccountFacts(account, in: tx)
        }
    }

    func account(email: String) throws -> AccountRecord? {
        try context.database.read { try $0.account(named: email, in: tenantId) }
    }

    /// - Throws: `FirebaseError` if the project or the tenant does not exist.
    func tenantRecord() throws -> TenantRecord {
        do { return try context.database.read { try service.configurations.tenant(tenantId, in: $0) } } catch is TenantNotFound {
            throw FirebaseError(firebaseTenant == nil ? "CONFIGURATION_NOT_FOUND" : "TENANT_NOT_FOUND")
        }
    }

    /// Returns the user of the request's ID token.
    ///
    /// - Throws: `FirebaseError` if the token is missing or no longer accepted.
    func user() throws -> FirebaseUser {
        guard let token = try body.filled("idToken") else { throw FirebaseError("MISSING_ID_TOKEN") }
        guard let claims = try verified(token), let id = claims["sub"]?.string ?? claims["user_id"]?.string,
            claims["aud"]?.string == project, claims["iss"]?.string == FirebaseTokens.Issuer.token.rawValue + project
        else { throw FirebaseError("INVALID_ID_TOKEN") }
        if claims["firebase"]?.object?["tenant"]?.string != firebaseTenant { throw FirebaseError("TENANT_ID_MISMATCH") }
        guard let facts = try facts(id) else { throw FirebaseError("USER_NOT_FOUND") }
        if (claims["iat"]?.int ?? 0) < facts.account.validAfter || (claims["exp"]?.int ?? 0) <= now { throw FirebaseError("TOKEN_EXPIRED") }
        if facts.account.isDisabled { throw FirebaseError("USER_DISABLED") }
        try tenantRecord().requireEnabled()
        let sessionId = claims["sid"]?.string
        let session = try sessionId.flatMap { id in try context.database.read { try $0.session(id) } }
        // A session that was signed out or revoked on its own does not change the time from which tokens of the account are valid.
        if sessionId != nil, session == nil { throw FirebaseError("TOKEN_EXPIRED") }
        return FirebaseUser(facts: facts, session: session, claims: claims)
    }

    /// - Throws: `FirebaseError` if the user signed in more than five minutes ago. Users of anonymous accounts cannot sign in again.
    func requireRecent(_ user: FirebaseUser) throws {
        if user.account.method != .anonymous, user.signedInAt < now - 300 { throw FirebaseError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN") }
    }
}
