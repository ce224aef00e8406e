import Contract
import Crypto
import JSON
import Network

extension IdpService {
    /// Looks at all that is needed of a provider, and says of each thing in words how it is.
    ///
    /// - Throws: `TenantNotFound`, `IdpNotFound`.
    public func test(_ request: IdpTest.Params, _ call: any CallContext) throws -> IdpTest.Result {
        let idp = try surroundings.database.read { tx in try catalogue.idp(request.providerId, of: request.tenantId, in: tx) }
        var checks = [IdpInspection.settings(idp)]
        if let keys = idp.keys {
            checks.append(IdpInspection.given(keys.keys.count))
        } else if let issuer = idp.issuers.first {
            let inspection = try surroundings.foreign.inspect(issuer: issuer, of: idp.address, call)
            checks += IdpInspection.checks(of: inspection, idp, allowsPlainLoopback: surroundings.foreign.allowsPlainLoopback)
        }
        return IdpTest.Result(ok: checks.allSatisfy(\.ok), checks: checks)
    }
}

/// What is said of what an identity provider publishes (OpenID Connect Discovery 3; firebase.md 3.2).
enum IdpInspection {
    static func settings(_ idp: IdpRecord) -> IdpCheck {
        idp.settings.enabled
            ? IdpCheck(check: "settings", ok: true, message: "Its settings are complete.")
            : IdpCheck(
                check: "settings", ok: false,
                message: "It is switched off, so nobody can sign in with it. idp.update with enabled switches it on.")
    }

    static func given(_ count: Int) -> IdpCheck {
        IdpCheck(check: "keys", ok: true, message: count == 1 ? "1 key is given with it." : "\(count) keys are given with it.")
    }

    /// In the order in which they stand in each other's way.
    static func checks(of inspection: IssuerInspection, _ idp: IdpRecord, allowsPlainLoopback: Bool) -> [IdpCheck] {
        guard let description = inspection.description else {
            let reason = inspection.failure.map { "\($0.reason)\(hint($0, idp))" } ?? ""
            return [IdpCheck(check: "discovery", ok: false, message: reason)]
        }
        var checks = [
            IdpCheck(check: "discovery", ok: true, message: "Its discovery document is there and is of \(idp.issuers[0]).")
        ]
        guard let keys = inspection.keys else {
            let reason = inspection.failure.map { "\($0.reason)\(hint($0, idp))" } ?? ""
            return checks + [IdpCheck(check: "keys", ok: false, message: reason)]
        }
        let algorithms = Set(keys.keys.map(\.algorithm.rawValue)).sorted()
        let left = keys.refusals.isEmpty ? "" : " \(keys.refusals.count) more cannot be used."
        checks.append(
            IdpCheck(
                check: "keys", ok: true,
                message: "Of its keys \(keys.keys.count) can verify ID tokens: \(algorithms.joined(separator: ", ")).\(left)"))
        let endpoints = endpoints(
            IdpEndpoints(description), Description(description), idp, allowsPlainLoopback: allowsPlainLoopback)
        return checks + [signing(description, algorithms), responseType(description, idp), endpoints]
    }

    /// What a discovery document says of the token endpoint, as far as it says so.
    struct Description {
        let clientAuthentications: [String]
        let challengeMethods: [String]

        init(_ description: JSONNode) {
            clientAuthentications = list(description["token_endpoint_auth_methods_supported"])
            challengeMethods = list(description["code_challenge_methods_supported"])
        }
    }

    private static func signing(_ description: JSONNode, _ known: [String]) -> IdpCheck {
        let announced = list(description["id_token_signing_alg_values_supported"])
        let fits = announced.isEmpty || announced.contains { SignatureAlgorithm(name: $0).map { known.contains($0.rawValue) } ?? false }
        return IdpCheck(
            check: "algorithms", ok: fits,
            message: fits
                ? "It signs ID tokens in a way that is accepted here."
                : "It says that it signs ID tokens with \(announced.joined(separator: ", ")), but has no key for that. "
                    + "Have it sign with \(known.joined(separator: " or ")).")
    }

    private static let stillAccepted = "ID tokens that an app has got itself are still accepted."

    private static func responseType(_ description: JSONNode, _ idp: IdpRecord) -> IdpCheck {
        func check(_ ok: Bool, _ message: String) -> IdpCheck { IdpCheck(check: "responseType", ok: ok, message: message) }
        let wanted = idp.responseType == .code ? "code" : "id_token"
        let endpoints = ["authorization_endpoint"] + (idp.responseType == .code ? ["token_endpoint"] : [])
        for name in endpoints where description[name]?.string == nil {
            return check(false, "Its discovery document names no \(name), so nobody can be sent there. \(stillAccepted)")
        }
        let offered = list(description["response_types_supported"])
        guard offered.isEmpty || offered.contains(wanted) else {
            return check(
                false,
                "It answers with \(offered.joined(separator: ", ")), not with \(wanted). "
                    + "Set responseType to \(idp.responseType == .code ? "idToken" : "code"). \(stillAccepted)"
            )
        }
        return check(true, "It answers with \(wanted), as its settings say.")
    }

    private static func list(_ node: JSONNode?) -> [String] {
        var texts: [String] = []
        node?.forEachElement { if let text = $1.string { texts.append(text) } }
        return texts
    }

    /// What to do about a failure.
    private static func hint(_ failure: IssuerFailure, _ idp: IdpRecord) -> String {
        switch failure.check {
        case .unavailable: " Is the issuer right, and can this machine reach it?"
        case .address: " Set allowInsecure for plain http on this machine, allowPrivateNetwork for a private network."
        case .certificate: " A private authority is added with --ca-file."
        case .issuer: " Set issuer to what its document says, slash at the end included, if that is the provider you mean."
        case .status, .document: " Is \(idp.issuers[0]) its issuer?"
        case .redirect, .tooLarge, .keys, .cancelled: ""
        }
    }
}
