import Accounts
import Contract
import JSON
import ServiceContext

// The state of the test provider as it is written to snapshot files.

extension JSONObject {
    fileprivate func text(_ name: String) -> String? { self[name]?.string }
    /// Returns the time of a member, or `nil` if it is outside the range of the clock.
    fileprivate func moment(_ name: String) -> Int64? { self[name]?.int.flatMap { VirtualClock.moments ~= $0 ? $0 : nil } }

    fileprivate mutating func set(_ name: String, _ text: String?) { self[name] = text.map { .string($0) } }
    fileprivate mutating func set(_ name: String, _ number: Int64?) { self[name] = number.map { .number(JSONNumber($0)) } }
    fileprivate mutating func set(_ name: String, _ texts: [String]?) { self[name] = texts.map { .array($0.map { .string($0) }) } }
}

extension ProviderState.Grant {
    var record: JSONObject {
        var record: JSONObject = ["issuer": .string(issuer), "clientId": .string(clientId), "scope": .string(scopes.text)]
        record.set("audience", audience)
        record.set("loginId", loginId)
        record.set("thumbprint", thumbprint)
        return record
    }

    init?(record: JSONValue?) {
        guard let record = record?.object, let issuer = record.text("issuer"), let clientId = record.text("clientId"),
            let scope = record.text("scope"), record.hasAtMost(texts: "audience", "loginId", "thumbprint")
        else { return nil }
        self.init(
            issuer: issuer, clientId: clientId, scopes: Scopes(scope), audience: record.text("audience"), loginId: record.text("loginId"),
            thumbprint: record.text("thumbprint"))
    }
}

extension ProviderState.Code {
    var record: JSONObject {
        var record: JSONObject = [
            "grant": .object(grant.record), "redirectUri": .string(redirectUri), "sessionId": .string(sessionId),
            "refreshToken": .string(refreshToken), "expiresAt": .number(JSONNumber(expiresAt)), "used": .bool(isUsed),
        ]
        record.set("challenge", challenge)
        record.set("nonce", nonce)
        return record
    }

    init?(record: JSONValue) {
        guard let record = record.object, let grant = ProviderState.Grant(record: record["grant"]),
            let redirectUri = record.text("redirectUri"), let sessionId = record.text("sessionId"),
            let refreshToken = record.text("refreshToken"), let expiresAt = record.moment("expiresAt"), let isUsed = record["used"]?.bool,
            record.hasAtMost(texts: "challenge", "nonce")
        else { return nil }
        self.init(
            grant: grant, redirectUri: redirectUri, challenge: record.text("challenge"), nonce: record.text("nonce"), sessionId: sessionId,
            refreshToken: refreshToken, expiresAt: expiresAt, isUsed: isUsed)
    }
}

extension ProviderState.Login {
    var record: JSONObject {
        var record: JSONObject = ["issuer": .string(issuer), "accountId": .string(accountId), "username": .string(username)]
        record["proof"] = .object(proof.record)
        record.set("sessions", sessions)
        return record
    }

    init?(record: JSONValue) {
        guard let record = record.object, let issuer = record.text("issuer"), let accountId = record.text("accountId"),
            let username = record.text("username"), let proof = SignInProof(record: record["proof"]),
            let sessions = record.texts("sessions")
        else { return nil }
        self.init(issuer: issuer, accountId: accountId, username: username, proof: proof, sessions: sessions)
    }
}

extension SignInProof {
    fileprivate var record: JSONObject {
        var record: JSONObject = ["provider": .string(provider), "claims": .object(claims)]
        record.set("amr", amr)
        record.set("authenticatedAt", authenticatedAt)
        record.set("secondFactor", secondFactor?.kind)
        record.set("factorId", secondFactor?.factorId)
        return record
    }

    fileprivate init?(record: JSONValue?) {
        guard let record = record?.object, let provider = record.text("provider"), let claims = record["claims"]?.object,
            let amr = record.texts("amr"), record.hasAtMost(texts: "secondFactor", "factorId"),
            record["authenticatedAt"] == nil || record.moment("authenticatedAt") != nil
        else { return nil }
        self.init(amr: amr, provider: provider, claims: claims, authenticatedAt: record.moment("authenticatedAt"))
        if let kind = record.text("secondFactor"), let id = record.text("factorId") {
            secondFactor = VerifiedFactor(kind: kind, factorId: id)
        }
    }
}

extension ProviderDevice {
    var record: JSONObject {
        var record: JSONObject = [
            "grant": .object(grant.record), "userCode": .string(userCode), "expiresAt": .number(JSONNumber(expiresAt)),
            "interval": .number(JSONNumber(interval)),
        ]
        record.set("polledAt", polledAt)
        switch fate {
        case .waiting: break
        case .refused: record["refused"] = true
        case .approved(let sessionId, let refreshToken):
            record.set("sessionId", sessionId)
            record.set("refreshToken", refreshToken)
        }
        return record
    }

    init?(record: JSONValue) {
        guard let record = record.object, let grant = ProviderState.Grant(record: record["grant"]), let userCode = record.text("userCode"),
            let expiresAt = record.moment("expiresAt"), let interval = record["interval"]?.int, 0...86_400 ~= interval,
            record.hasAtMost(texts: "sessionId", "refreshToken"), record["refused"] == nil || record["refused"]?.bool != nil,
            record["polledAt"] == nil || record.moment("polledAt") != nil
        else { return nil }
        self.init(grant: grant, userCode: userCode, expiresAt: expiresAt, interval: interval, polledAt: record.moment("polledAt"))
        if record["refused"]?.bool == true { fate = .refused }
        if let sessionId = record.text("sessionId"), let refreshToken = record.text("refreshToken") {
            fate = .approved(sessionId: sessionId, refreshToken: refreshToken)
        }
    }
}

extension TestEnqueue.Params.Answer {
    var record: JSONObject {
        switch self {
        case .claims(let claims): return ["claims": .object(claims)]
        case .error(let error):
            var record: JSONObject = ["code": .string(error.code), "endpoint": .string(error.endpoint.rawValue)]
            record.set("description", error.description)
            record.set("status", error.status)
            return ["error": .object(record)]
        case .passkeyChallenge: return [:]
        }
    }

    init?(record: JSONValue) {
        if let claims = record["claims"]?.object {
            self = .claims(claims)
        } else if let error = record["error"], let error = TestAnswerError(record: error) {
            self = .error(error)
        } else {
            return nil
        }
    }
}

extension TestIssuer {
    var record: JSONObject {
        var record: JSONObject = ["name": .string(name), "passwordless": .bool(passwordless), "createAccounts": .bool(createAccounts)]
        record.set("tenantId", tenantId)
        record["clients"] = clients.map { clients in
            .array(
                clients.map { client in
                    var record: JSONObject = ["clientId": .string(client.clientId)]
                    record.set("clientSecret", client.clientSecret)
                    record["keys"] = client.keys.map { .array($0.map { .object($0) }) }
                    record.set("jwksUri", client.jwksUri)
                    record.set("assertionIssuer", client.assertionIssuer)
                    record.set("assertionSubject", client.assertionSubject)
                    record.set("redirectUris", client.redirectUris)
                    return .object(record)
                })
        }
        record["resources"] = resources.map { resources in
            .array(
                resources.map { resource in
                    var record: JSONObject = ["resource": .string(resource.resource)]
                    record.set("scopes", resource.scopes)
                    record.set("name", resource.name)
                    return .object(record)
                })
        }
        record["registration"] = registration.map { .bool($0) }
        record["clientIdMetadata"] = clientIdMetadata.map { .bool($0) }
        record.set("dpop", dpop.rawValue)
        if requirePushedRequests { record["requirePushedRequests"] = true }
        record.set("signInAs", signInAs)
        return record
    }
}

extension ContractParams {
    /// Decodes a record like the parameters of a request.
    init?(record: JSONValue) {
        guard let text = try? JSONText(record.bytes), let params = try? Self(decoding: text.root) else { return nil }
        self = params
    }
}

extension JSONObject {
    /// Returns whether each of these members is a string or missing. Other values were not written by this service.
    fileprivate func hasAtMost(texts names: String...) -> Bool { names.allSatisfy { self[$0] == nil || self[$0]?.string != nil } }

    /// Returns a list of strings, or `nil` if the member is missing or has other elements.
    fileprivate func texts(_ name: String) -> [String]? {
        guard let elements = self[name]?.array else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }
}
