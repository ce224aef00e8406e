import Accounts
import Contract
import JSON
import Loopback
import Platform
import ServiceContext

/// An authorization request that a client has pushed (RFC 9126).
struct PushedRequest: Sendable {
    /// The time until which the client must have sent the user to the authorization endpoint, in seconds.
    static let lifetimeSeconds: Int64 = 60
    /// The time that the user then has for the login pages, in seconds.
    static let loginSeconds: Int64 = 600
    /// The maximum length of the parameters in URL encoding, in bytes.
    static let maximumLength = 16 * 1024
    /// The beginning of every `request_uri`.
    static let prefix = "urn:ietf:params:oauth:request_uri:"

    let issuer: String
    let clientId: String
    /// The parameters in URL encoding.
    let parameters: String
    let expiresAt: Int64
    /// The end of the time for the login pages, once the user has seen one.
    var openUntil: Int64?

    /// The time after which the request is no longer usable for anything.
    var end: Int64 { max(expiresAt, openUntil ?? 0) }
}

extension ProviderState {
    /// Stores a request, and removes requests that expired long ago.
    mutating func keep(_ request: PushedRequest, as uri: String, at now: Int64) {
        pushed.forget { $0.end + 600 <= now }
        pushed[uri] = request
    }
}

extension TestProvider {
    /// The endpoint to which clients push authorization requests (RFC 9126 §2).
    func push(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        let form = request.form
        if form["request_uri"] != nil {
            throw OAuthRefusal("invalid_request", "A pushed request must not contain request_uri (RFC 9126 2.1).")
        }
        // Pages of any origin can read the response, and would learn which ports of this machine are open.
        let documents: ProviderIssuer.DocumentUse = request.whole.header("origin") == nil ? .fetched : .known
        if let id = form["client_id"] { _ = try issuer.client(id, documents: documents) }
        let client = try client(in: request, at: .par, of: issuer)
        guard form["client_id"] != nil else {
            throw OAuthRefusal("invalid_request", "client_id is missing: a pushed request contains it as every authorization request.")
        }
        let credentials: Set = ["client_secret", "client_assertion", "client_assertion_type"]
        var pairs = form.pairs.filter { !credentials.contains($0.name) }
        if let thumbprint = try proof(in: request, to: .par, of: issuer) {
            if let named = form["dpop_jkt"], named != thumbprint {
                throw DPoPProof.refusal("The DPoP proof is not of the key in dpop_jkt (RFC 9449 10.1).")
            }
            pairs.removeAll { $0.name == "dpop_jkt" }
            pairs.append(("dpop_jkt", thumbprint))
        }
        let text = Form.encode(pairs.map { ($0.name, $0.value) })
        guard text.utf8.count <= PushedRequest.maximumLength else {
            throw OAuthRefusal(
                "invalid_request", "The request has \(text.utf8.count) bytes; at most \(PushedRequest.maximumLength) are accepted.",
                status: 413)
        }
        let asked = try AuthorizeRequest(ProviderParameters(text), of: issuer, documents: documents)
        do { try asked.check(for: issuer, isPushed: true) } catch let error as any ContractError {
            throw OAuthRefusal(error, or: "invalid_request")
        }
        let (uri, now) = (PushedRequest.prefix + Base64URL.encode(context.random.bytes(24)), context.clock.now)
        let pushed = PushedRequest(
            issuer: issuer.name, clientId: client.id, parameters: text, expiresAt: now + PushedRequest.lifetimeSeconds)
        memory.withLock { $0.keep(pushed, as: uri, at: now) }
        return LoopbackResponse(
            json: ["request_uri": .string(uri), "expires_in": .number(JSONNumber(PushedRequest.lifetimeSeconds))], status: 201)
    }

    /// Returns the authorization request of a browser: the parameters of its URL, or those that the client has pushed.
    ///
    /// - Parameter isLogin: Whether the request is a form of the login pages.
    /// - Throws: `OAuthRefusal`, which is shown on a page.
    func authorizeRequest(_ parameters: ProviderParameters, of issuer: ProviderIssuer, isLogin: Bool) throws -> AuthorizeRequest {
        guard let uri = parameters["request_uri"], uri.hasPrefix(PushedRequest.prefix) else {
            return try AuthorizeRequest(parameters, of: issuer)
        }
        func refuse(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_request_uri", "The request_uri \(reason)") }
        let now = context.clock.now
        let pushed = try memory.withLock { memory in
            guard let found = memory.pushed[uri], found.issuer == issuer.name else {
                throw refuse("is unknown, was already used or has expired. Push the authorization request again (RFC 9126).")
            }
            guard parameters["client_id"] == found.clientId else {
                throw refuse("belongs to another client. Send the client_id with which the request was pushed.")
            }
            guard now < (isLogin ? found.end : found.expiresAt) else {
                throw refuse("has expired: it is valid for \(PushedRequest.lifetimeSeconds) seconds. Push the authorization request again.")
            }
            if !isLogin { memory.pushed[uri]?.openUntil = now + PushedRequest.loginSeconds }
            return found
        }
        var asked = try AuthorizeRequest(ProviderParameters(pushed.parameters), of: issuer)
        asked.requestUri = uri
        return asked
    }

    /// Removes the pushed request that has been handled. A request without `request_uri` was not pushed.
    ///
    /// - Returns: `false` if the pushed request was already answered.
    func spend(_ asked: AuthorizeRequest) -> Bool {
        guard let uri = asked.requestUri else { return true }
        return memory.withLock { $0.pushed.removeValue(forKey: uri) != nil }
    }
}

extension PushedRequest {
    /// The record in a snapshot.
    var record: JSONObject {
        var record: JSONObject = [
            "issuer": .string(issuer), "clientId": .string(clientId), "parameters": .string(parameters),
            "expiresAt": .number(JSONNumber(expiresAt)),
        ]
        record["openUntil"] = openUntil.map { .number(JSONNumber($0)) }
        return record
    }

    init?(record: JSONValue) {
        func moment(_ name: String) -> Int64? { record[name]?.int.flatMap { VirtualClock.moments ~= $0 ? $0 : nil } }
        guard let issuer = record["issuer"]?.string, let clientId = record["clientId"]?.string,
            let parameters = record["parameters"]?.string, (try? ProviderParameters(parameters)) != nil,
            let expiresAt = moment("expiresAt"), record["openUntil"] == nil || moment("openUntil") != nil
        else { return nil }
        self.init(
            issuer: issuer, clientId: clientId, parameters: parameters, expiresAt: expiresAt, openUntil: moment("openUntil"))
    }
}
