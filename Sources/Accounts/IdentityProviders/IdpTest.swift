import Contract
import Crypto
import JSON
import Network
import ServiceContext

extension IdpService {
    /// Checks the settings, discovery document, keys and endpoints of a provider, and returns a message for each.
    ///
    /// - Throws: `TenantNotFound`, `IdpNotFound`.
    public func test(_ request: IdpTest.Params, _ call: any CallContext) throws -> IdpTest.Result {
        let idp = try context.database.read { tx in try configurations.idp(request.providerId, of: request.tenantId, in: tx) }
        var checks = [IdpInspection.settings(idp)]
        if let keys = idp.keys {
            checks.append(IdpInspection.given(keys.keys.count))
        } else if let issuer = idp.issuers.first {
            let inspection = try context.foreign.inspect(issuer: issuer, of: idp.address, call)
            checks += IdpInspection.checks(of: inspection, idp, allowsPlainLoopback: context.foreign.allowsPlainLoopback)
        }
        return IdpTest.Result(ok: checks.allSatisfy(\.ok), checks: checks)
    }
}

/// Checks the metadata that an identity provider publishes (OpenID Connect Discovery §3).
enum IdpInspection {
    static func settings(_ idp: IdpRecord) -> IdpCheck {
        idp.settings.enabled
            ? IdpCheck(check: "settings", ok: true, message: "The settings are complete.")
            : IdpCheck(
                check: "settings", ok: false,
                message: "The provider is disabled. To enable it, call idp.update with enabled.")
    }

    static func given(_ count: Int) -> IdpCheck {
        IdpCheck(check: "keys", ok: true, message: count == 1 ? "1 key is configured." : "\(count) keys are configured.")
    }

    /// Returns the checks in the order in which they depend on each other.
    static func checks(of inspection: IssuerInspection, _ idp: IdpRecord, allowsPlainLoopback: Bool) -> [IdpCheck] {
        guard let description = inspection.description else {
            let reason = inspection.failure.map { "\($0.reason)\(hint($0, idp))" } ?? ""
            return [IdpCheck(check: "discovery", ok: false, message: reason)]
        }
        var checks = [
            IdpCheck(check: "discovery", ok: true, message: "The discovery document is available, and its issuer is \(idp.issuers[0]).")
        ]
        guard let keys = inspection.keys else {
            let reason = inspection.failure.map { "\($0.reason)\(hint($0, idp))" } ?? ""
            return checks + [IdpCheck(check: "keys", ok: false, message: reason)]
        }
        let algorithms = Set(keys.keys.map(\.algorithm.rawValue)).sorted()
        let left = keys.refusals.isEmpty ? "" : " \(keys.refusals.count) other keys cannot be used."
        checks.append(
            IdpCheck(
                check: "keys", ok: true,
                message: "\(keys.keys.count) keys can verify ID tokens: \(algorithms.joined(separator: ", ")).\(left)"))
        let endpoints = endpoints(
            IdpEndpoints(description), Description(description), idp, allowsPlainLoopback: allowsPlainLoopback)
        return checks + [signing(description, algorithms), responseType(description, idp), endpoints]
    }

    /// The metadata of the token endpoint in a discovery document.
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
                ? "The provider signs ID tokens with a supported algorithm."
                : "The provider announces the algorithms \(announced.joined(separator: ", ")), but has no key for them. "
                    + "Configure it to sign with \(known.joined(separator: " or ")).")
    }

    private static let stillAccepted = "ID tokens that the application obtained itself are still accepted."

    private static func responseType(_ description: JSONNode, _ idp: IdpRecord) -> IdpCheck {
        func check(_ ok: Bool, _ message: String) -> IdpCheck { IdpCheck(check: "responseType", ok: ok, message: message) }
        let wanted = idp.responseType == .code ? "code" : "id_token"
        let endpoints = ["authorization_endpoint"] + (idp.responseType == .code ? ["token_endpoint"] : [])
        for name in endpoints where description[name]?.string == nil {
            return check(false, "The discovery document contains no \(name), so sign-ins cannot start. \(stillAccepted)")
        }
        let offered = list(description["response_types_supported"])
        guard offered.isEmpty || offered.contains(wanted) else {
            return check(
                false,
                "The provider supports the response types \(offered.joined(separator: ", ")), not \(wanted). "
                    + "Set responseType to \(idp.responseType == .code ? "idToken" : "code"). \(stillAccepted)"
            )
        }
        if idp.responseType == .idToken, !IdpEndpoints(description).hasFormPost {
            return check(false, "\(IdpEndpoints.noFormPost) \(IdpEndpoints.useCode) \(stillAccepted)")
        }
        return check(true, "The provider supports the response type \(wanted).")
    }

    private static func list(_ node: JSONNode?) -> [String] {
        var texts: [String] = []
        node?.forEachElement { if let text = $1.string { texts.append(text) } }
        return texts
    }

    /// Returns the next step after a failure.
    private static func hint(_ failure: IssuerFailure, _ idp: IdpRecord) -> String {
        switch failure.check {
        case .unavailable: " Check the issuer, and whether this machine can reach it."
        case .address: " Set allowInsecure for plain HTTP to a loopback address, or allowPrivateNetwork for a private network."
        case .certificate: " To add a private certificate authority, use --ca-file."
        case .issuer: " If this is the right provider, set issuer to the issuer in the document, including a trailing slash."
        case .status, .document: " Check whether \(idp.issuers[0]) is its issuer."
        case .redirect, .tooLarge, .keys, .cancelled: ""
        }
    }
}
