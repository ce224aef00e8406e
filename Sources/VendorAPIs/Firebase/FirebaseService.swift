import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// The methods behind the Identity Toolkit API.
public struct FirebaseService: Sendable {
    let account: AccountService
    let signIn: SignInService
    let tenant: TenantService
    let keys = FirebaseKeys()

    public init(account: AccountService, signIn: SignInService, tenant: TenantService) {
        self.account = account
        self.signIn = signIn
        self.tenant = tenant
        account.context.hooks.use(FirebaseFunctions(isTesting: account.context.service.isTesting))
    }

    var context: AccountsContext { account.context }
    var configurations: TenantConfigurationCache { account.configurations }

    /// The settings of a tenant that behaves like a project of Firebase.
    private static func settings(_ tenantId: String) -> TenantCreate.Params {
        TenantCreate.Params(
            tenantId: tenantId, passwordPolicy: PasswordPolicy(minimumLength: 6, minimumClasses: 1, checksBanned: false),
            notices: .none, anonymousAllowed: true, phoneSignIn: .everyone)
    }

    /// Creates the tenant of a project if it does not exist.
    public func open(project: String, _ call: any CallContext) throws {
        if try context.database.read({ try configurations.knownTenant(project, in: $0) }) != nil { return }
        do { _ = try tenant.create(Self.settings(project), call) } catch is TenantExists {}
    }

    /// Creates the tenant of a Firebase tenant.
    func create(tenant id: String, _ call: any CallContext) throws {
        _ = try tenant.create(Self.settings(id), call)
    }

    /// Returns the response to a request.
    func answer(_ request: WireRequest, at endpoint: FirebaseEndpoint, _ call: any CallContext) throws -> WireAnswer {
        do {
            return try FirebaseCall.answer(request, by: self, at: endpoint, call)
        } catch let error as FirebaseError {
            return .json(error.body, status: error.status)
        } catch let error as ChosenError {
            return .json(FirebaseError("INTERNAL_ERROR : \(error.message)", status: 500).body, status: 500)
        } catch let error as any ContractError {
            let error = FirebaseError(error)
            return .json(error.body, status: error.status)
        } catch is StoreError {
            return .json(FirebaseError("INTERNAL_ERROR", status: 500).body, status: 500)
        }
    }

    /// Whether a request is addressed to this API.
    static func isAddressed(by request: WireRequest) -> Bool {
        let path = FirebasePath(request.url).path
        let prefixes = ["/identitytoolkit.googleapis.com/", "/securetoken.googleapis.com/", "/www.googleapis.com/", "/emulator/"]
        return path == "/" && request.header("x-amz-target") == nil && request.parameter("Action") == nil
            || prefixes.contains { path.hasPrefix($0) }
    }
}

/// The path of a request: the original host, the version, the project and the tenant, and the name of the call.
struct FirebasePath {
    let path: String
    var host = ""
    var version = ""
    var project: String?
    var tenant: String?
    /// The rest of the path, such as `accounts:lookup` or `oauthIdpConfigs/oidc.x`.
    var name = ""

    init(_ url: String) {
        var text = Substring(url)
        if !text.hasPrefix("/") { text = text.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" } }
        text = text.prefix { $0 != "?" && $0 != "#" }
        path = text.isEmpty ? "/" : String(text)
        var parts = path.split(separator: "/").map { String(decoding: PercentEncoding.decode(String($0)), as: UTF8.self) }[...]
        host = parts.popFirst() ?? ""
        version = parts.popFirst() ?? ""
        var call: String?
        if parts.first == "projects", parts.count > 1 {
            parts.removeFirst()
            (project, call) = Self.split(parts.removeFirst())
            if call == nil, parts.first == "tenants", parts.count > 1 {
                parts.removeFirst()
                (tenant, call) = Self.split(parts.removeFirst())
            }
        }
        name = (call.map { [":" + $0] } ?? []).joined() + parts.joined(separator: "/")
    }

    private static func split(_ text: String) -> (String, String?) {
        guard let colon = text.lastIndex(of: ":") else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }
}
