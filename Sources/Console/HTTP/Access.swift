import Crypto
import Loopback
import Platform
import Synchronization

/// The tokens and sessions of the console. A one-time token in the URL is exchanged for a cookie.
final class Access: Sendable {
    static let tokenSeconds: UInt64 = 600
    static let sessionSeconds: UInt64 = 12 * 3600

    private struct State {
        /// The tokens that are not used yet, by digest, with the end of their time in nanoseconds.
        var tokens: [[UInt8]: UInt64] = [:]
        var sessions: [[UInt8]: (form: String, end: UInt64)] = [:]
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> UInt64

    init(now: @escaping @Sendable () -> UInt64 = { Monotonic.nanoseconds() }) { self.now = now }

    /// Returns a new one-time token.
    func newToken() -> String {
        let token = Self.secret()
        let end = now() + Self.tokenSeconds * 1_000_000_000
        state.withLock { state in
            state.tokens = state.tokens.filter { $0.value > now() }
            state.tokens[Hash.sha256(Array(token.utf8))] = end
        }
        return token
    }

    /// Uses a token. Returns the value of the session's cookie, or `nil` if the token is unknown, used or expired.
    func exchange(_ token: String) -> String? {
        state.withLock { state in
            guard let end = state.tokens.removeValue(forKey: Hash.sha256(Array(token.utf8))), end > now() else { return nil }
            let cookie = Self.secret()
            state.sessions = state.sessions.filter { $0.value.end > now() }
            state.sessions[Hash.sha256(Array(cookie.utf8))] = (Self.secret(), now() + Self.sessionSeconds * 1_000_000_000)
            return cookie
        }
    }

    /// Returns the form token of a session, or `nil` if there is no such session.
    func formToken(_ cookie: String?) -> String? {
        guard let cookie else { return nil }
        return state.withLock { state in
            state.sessions[Hash.sha256(Array(cookie.utf8))].flatMap { $0.end > now() ? $0.form : nil }
        }
    }

    /// 128 random bits.
    private static func secret() -> String { Base64URL.encode(SystemRandom().bytes(16)) }

    /// Returns whether a request names one of the addresses of this server. This prevents DNS rebinding.
    static func isOwnHost(_ host: String?, port: UInt16) -> Bool { hosts(port).contains(host?.lowercased() ?? "") }

    /// Returns whether a request that changes something comes from a page of this server. Browsers send `Origin: null` from pages with
    /// the policy `no-referrer`; then `Sec-Fetch-Site`, which pages cannot set, decides.
    static func isOwnPage(_ request: LoopbackRequest, port: UInt16) -> Bool {
        let site = request.header("sec-fetch-site")
        guard site == nil || site == "same-origin" || site == "none" else { return false }
        guard let origin = request.header("origin") else { return true }
        if origin == "null" { return site == "same-origin" }
        return hosts(port).contains { origin.lowercased() == "http://" + $0 }
    }

    private static func hosts(_ port: UInt16) -> [String] { ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"] }
}
