import Contract
import Federation
import JSON
import Network
import Platform
import ServiceContext

/// Exchanges an authorization code for tokens at the provider (RFC 6749 §4.1.3 and §5, RFC 7636 §4.5). If several calls try, only one
/// succeeds.
struct CodeRedemption: Sendable {
    let context: AccountsContext
    let secrets: IdpFlowSecrets

    /// - Returns: The provider's response with the code added, as one JSON object.
    /// - Throws: `FlowUsed`; `InvalidCredential` if the provider rejects the code, which ends the flow; `ProviderUnavailable` or
    ///   `ProviderUnusable`, which leave the flow unchanged.
    func redeem(_ code: String, of flow: IdpFlow, at idp: IdpRecord, _ call: any CallContext) throws -> String {
        guard let endpoint = flow.tokenEndpoint else { throw FlowUsed() }
        let question = try TokenEndpoint.question(
            endpoint,
            [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", flow.redirectUri),
                ("code_verifier", secrets.verifier(of: flow.id)),
            ], idp, vault: context.vault)
        guard try move(flow, from: .open, to: .redeeming, flow.sealed) else { throw FlowUsed() }
        let (status, node): (Int, JSONNode)
        do { (status, node) = try context.foreign.object(question, of: idp.address, call) } catch {
            _ = try move(flow, from: .redeeming, to: .open, flow.sealed)
            throw error
        }
        guard status == 200, node["error"] == nil, ["id_token", "access_token"].contains(where: { node[$0]?.string != nil }) else {
            _ = try move(flow, from: .redeeming, to: .used, nil)
            throw InvalidCredential(
                providerId: idp.providerId, check: "code", reason: TokenEndpoint.refusal(node, status: status, "the code"))
        }
        var object = node.value.object ?? [:]
        object["code"] = .string(code)
        object[ProviderGrant.receivedAt] = .number(JSONNumber(context.clock.now))
        let answer = JSONValue.object(object).text
        guard try move(flow, from: .redeeming, to: .redeemed, secrets.seal(answer, of: flow.id)) else { throw FlowUsed() }
        return answer
    }

    private func move(_ flow: IdpFlow, from old: IdpFlow.Stage, to new: IdpFlow.Stage, _ sealed: [UInt8]?) throws -> Bool {
        try context.database.write { try $0.move(flow, from: old, to: new, sealed: sealed) }
    }
}

/// Builds requests to the token endpoint, including client authentication (RFC 6749 §2.3.1, OpenID Connect Core §9).
enum TokenEndpoint {
    /// - Throws: `SealBroken`.
    static func question(_ url: String, _ form: [(String, String)], _ idp: IdpRecord, vault: Vault) throws -> LoginProviderRequest {
        let (client, secret) = (idp.settings.clientId, try idp.openSecret(vault) ?? "")
        var (form, headers) = (form, [(name: String, value: String)]())
        switch idp.clientAuthentication {
        case .none: form.append(("client_id", client))
        case .post: form += [("client_id", client), ("client_secret", secret)]
        case .basic:
            let basic = Base64.encode(Array("\(PercentEncoding.encode(client)):\(PercentEncoding.encode(secret))".utf8))
            headers.append(("Authorization", "Basic \(basic)"))
        }
        return LoginProviderRequest(
            url, headers: headers, body: Array(Form.encode(form).utf8), contentType: "application/x-www-form-urlencoded",
            namedBy: idp.known == nil || IdpEndpoints.known(idp) == nil ? idp.issuers.first : nil)
    }

    /// Returns the message for an error response of the token endpoint.
    ///
    /// - Parameter hint: The next step if the provider rejects the grant.
    static func refusal(
        _ node: JSONNode, status: Int, _ what: String,
        hint grant: String = " It may have been used already, or has expired. Start again with idp.authorize."
    ) -> String {
        if status == 200, node["error"] == nil { return "The provider returned no token for \(what)." }
        let error = node["error"]?.string.map(ProviderErrorText.of) ?? "HTTP \(status)"
        let words = node["error_description"]?.string.map { " Its description: \(ProviderErrorText.of($0))" } ?? ""
        let hint =
            switch error {
            case "invalid_client", "unauthorized_client":
                " Check clientId, clientSecret and clientAuthentication."
            case "invalid_grant": grant
            default: ""
            }
        return "The provider rejected \(what): \(error).\(words)\(hint)"
    }
}
