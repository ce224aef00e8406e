import Accounts
import Contract
import Glibc
import JSON
import Mintmark
import ServiceContext

/// The store of a command that gives credentials or tokens to another tool. Prints nothing: standard error can be part of the protocol.
final class ToolStore: Sendable {
    let settings: StoreSettings
    let services: Services
    private let mintmark: Mintmark
    /// The name of the local user among those who share the store.
    private let user: String

    /// Opens the store. Does not create it.
    ///
    /// - Throws: `ToolFailure` with the status 3 if the source is a session and the store does not exist; `ValidationError`.
    init(_ settings: StoreSettings, for source: TokenSource) throws {
        if case .session = source, let path = try settings.missingStore() {
            throw Self.notSignedIn("No user is signed in: the store \(path) does not exist.", settings)
        }
        var configuration = try settings.configuration()
        configuration.makesStores = false
        configuration.publicCaller = false
        self.settings = settings
        user = LocalSessionStore.localUser(of: configuration.store)
        mintmark = Mintmark(configuration)
        do { services = try mintmark.services() } catch {
            mintmark.close()
            throw ToolFailure(error)
        }
    }

    func close() { mintmark.close() }

    /// The time in the store, in seconds since 1970. Virtual in a testing store.
    var now: Int64 { services.context.clock.now }

    var realm: Deployment { services.context.realm }

    /// A name that distinguishes the local user in the names of cached credentials.
    var userName: String { user }

    /// - Throws: `ToolFailure`.
    func call(_ method: String, _ params: JSONObject) throws -> JSONValue {
        do { return try Calls(mintmark.responder).ask(method, .object(params)) } catch { throw ToolFailure(error) }
    }

    /// Returns the ID token of the session of `mintmark login`.
    ///
    /// - Throws: `ToolFailure` with the status 3 if no user is signed in.
    func sessionToken(goodFor seconds: Int64) throws -> String {
        do {
            guard let tokens = try services.ownSessions.tokens(user, goodFor: seconds, OwnCall()) else {
                throw Self.notSignedIn("No user is signed in.", settings)
            }
            return tokens.idToken
        } catch {
            switch contractError(error) {
            case is RefreshTokenExpired, is RefreshTokenReused, is RefreshTokenInvalid:
                throw Self.notSignedIn("The session has ended.", settings)
            default: throw ToolFailure(error)
            }
        }
    }

    static func notSignedIn(_ why: String, _ settings: StoreSettings) -> ToolFailure {
        ToolFailure(3, "notSignedIn", "\(why) Run: mintmark login\(settings.commandText)")
    }
}
