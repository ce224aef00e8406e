import Contract
import ServiceContext

extension IssuerService {
    /// Checks the settings, discovery document and keys of a trusted issuer, and optionally one of its tokens.
    ///
    /// - Throws: `TrustedIssuerNotFound`.
    public func test(_ request: IssuerTest.Params, _ call: any CallContext) throws -> IssuerTest.Result {
        let selector: IssuerGet.Params.Selector =
            switch request.selector {
            case .issuer(let issuer): .issuer(issuer)
            case .arn(let arn): .arn(arn)
            case .tenantId(let id): .tenantId(id)
            }
        let issuer = try context.database.read { tx in try KnownIssuer(try find(selector, in: tx), in: context.realm) }
        var checks = [settings(of: issuer)] + (try keys(of: issuer, call))
        if let token = request.token, checks.dropFirst().allSatisfy(\.ok) { checks.append(try self.token(token, of: issuer, call)) }
        return IssuerTest.Result(ok: checks.allSatisfy(\.ok), checks: checks)
    }

    private func settings(of issuer: KnownIssuer) -> IdpCheck {
        issuer.audiences.isEmpty
            ? IdpCheck(
                check: "settings", ok: false, message: "The issuer has no audiences, so no token is accepted. Add them with issuer.put.")
            : IdpCheck(check: "settings", ok: true, message: "The settings are complete.")
    }

    private func keys(of issuer: KnownIssuer, _ call: any CallContext) throws -> [IdpCheck] {
        if issuer.tenantId != nil { return [IdpCheck(check: "keys", ok: true, message: "The issuer is a tenant of this store.")] }
        if let keys = issuer.keys {
            let count = keys.keys.count
            return [IdpCheck(check: "keys", ok: true, message: count == 1 ? "1 key is configured." : "\(count) keys are configured.")]
        }
        let inspection = try context.foreign.inspect(issuer: issuer.issuer, of: issuer.address, call)
        var checks: [IdpCheck] = []
        if issuer.address.keySetURL == nil {
            guard inspection.description != nil else {
                return [IdpCheck(check: "discovery", ok: false, message: inspection.failure?.reason ?? "")]
            }
            checks.append(
                IdpCheck(
                    check: "discovery", ok: true,
                    message: "The discovery document is available, and its issuer is \(issuer.issuer)."))
        }
        guard let keys = inspection.keys else {
            return checks + [IdpCheck(check: "keys", ok: false, message: inspection.failure?.reason ?? "")]
        }
        let algorithms = Set(keys.keys.map(\.algorithm.rawValue)).sorted().joined(separator: ", ")
        return checks + [IdpCheck(check: "keys", ok: true, message: "\(keys.keys.count) keys can verify tokens: \(algorithms).")]
    }

    private func token(_ token: String, of issuer: KnownIssuer, _ call: any CallContext) throws -> IdpCheck {
        let credentials = CredentialsService(context, configurations)
        do {
            let presented = try PresentedToken(token)
            if let iss = presented.issuer, iss != issuer.issuer { throw TokenIssuerMismatch(expected: issuer.issuer, actual: iss) }
            let verified = try credentials.verify(presented, of: issuer, for: nil, call, now: context.clock.now)
            _ = try WorkloadSession(verified.claims)
            return IdpCheck(check: "token", ok: true, message: "The token of \(verified.subject) is accepted.")
        } catch let error as any ContractError where (2000...7999).contains(error.code) {
            return IdpCheck(check: "token", ok: false, message: error.message)
        }
    }
}
