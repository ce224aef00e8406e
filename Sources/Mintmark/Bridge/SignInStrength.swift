import Accounts
import Contract
import JSON

/// The conditions of `token.verify` on the sign-in of a token (OWASP ASVS 5.0 §10.3.4).
struct SignInStrength {
    let maxAuthAgeSeconds: Int64?
    let amr: [String]
    let needsSecondFactor: Bool

    /// - Returns: `nil` if the request has no such condition.
    init?(_ request: TokenVerify.Params) {
        if request.maxAuthAgeSeconds == nil, request.amr == nil, !request.secondFactor { return nil }
        maxAuthAgeSeconds = request.maxAuthAgeSeconds
        amr = request.amr ?? []
        needsSecondFactor = request.secondFactor
    }

    /// - Parameter claims: The claims of a token. Those of a pool's token have no sign-in.
    /// - Throws: `TokenTooWeak` with the first condition that is not satisfied.
    func check(_ claims: JSONNode, now: Int64) throws {
        if let limit = maxAuthAgeSeconds {
            guard let moment = claims["auth_time"]?.number?.int64, claims["sid"] != nil else {
                throw TokenTooWeak(check: "maxAuthAgeSeconds", reason: "the token does not name the time of the sign-in")
            }
            if now - moment > limit {
                throw TokenTooWeak(check: "maxAuthAgeSeconds", reason: "the sign-in was \(now - moment) seconds ago, more than \(limit)")
            }
        }
        var methods: [String] = []
        if claims["sid"] != nil { claims["amr"]?.forEachElement { if let method = $1.string { methods.append(method) } } }
        if let missing = amr.first(where: { !methods.contains($0) }) {
            throw TokenTooWeak(check: "amr", reason: "the sign-in did not use \(missing), only \(methods.joined(separator: ", "))")
        }
        if needsSecondFactor, !methods.contains("mfa") {
            throw TokenTooWeak(check: "secondFactor", reason: "the sign-in showed one factor")
        }
    }
}
