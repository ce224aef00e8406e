import Contract
import Crypto
import Federation
import JSON
import ServiceContext
import Storage

/// A verified credential, or a password that is verified later against the store.
enum ProvenCredential: Sendable {
    /// An identity that a provider has asserted.
    case provider(ProviderIdentity, spending: SingleUseGuard?)
    /// The response of a passkey that `account.link` has accepted.
    case passkey(PendingPasskey)
    /// An email address and a password that are not verified yet.
    case password(Username, String)
}

/// Verifies credentials as far as possible without the accounts: provider credentials and pending tokens.
struct CredentialVerifier: Sendable {
    private let context: AccountsContext
    private let configurations: TenantConfigurationCache
    let pending: PendingTokens

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        pending = PendingTokens(vault: context.vault, seeded: context.seededKey("pending token"))
    }

    /// - Parameter use: The purpose of the credential. Defaults to a sign-in that names no application.
    /// - Throws: `InvalidParams` if members of the credential cannot be combined; the errors of `FlowCredentialVerifier`; `InvalidUsername`,
    ///   `IdpNotFound`, `IdpDisabled`, `InvalidCredential`, `InvalidNonce`, `PendingTokenInvalid`, `ProviderUnavailable`,
    ///   `ProviderUnusable`.
    /// - Returns: The credential, or the wait until the user has signed in.
    func prove(
        _ credential: Credential, in tenantId: String, for use: CredentialUse = CredentialUse(), _ call: any CallContext, now: Int64
    ) throws -> Phase<ProvenCredential> {
        try CredentialParts.check(credential)
        switch credential.kind {
        case .email(let email): return .done(.password(try Username(email), credential.password ?? ""))
        case .pendingToken(let token):
            let proven = try pending.proven(by: token, in: tenantId, at: now)
            guard case .provider(var identity, _) = proven else { return .done(proven) }
            identity.grant?.cameBefore = true
            // The provider may have been disabled or deleted since the token was issued.
            _ = try provider(identity.providerId, of: tenantId)
            return .done(.provider(identity, spending: nil))
        case .continuationToken(let token):
            return try FlowCredentialVerifier(context, configurations)
                .prove(token, credential.url, in: tenantId, for: use, call)
                .then(call) { given, call in
                    .done(try settling(.flow(given.flow)) { try prove(given, call, now: context.clock.now) })
                }
        case .providerId(let id):
            let idp = try provider(id, of: tenantId)
            guard let token = credential.idToken else {
                try ProviderStrength(idp).requireNothing(of: idp.providerId)
                let token = credential.accessToken ?? ""
                var identity = try AccessTokenIdentity(context.service).identity(of: token, from: idp, call)
                identity.accessToken = token
                return .done(.provider(identity, spending: nil))
            }
            let (jws, subject, claims) = try verify(
                token, from: idp, .init(accessToken: credential.accessToken, nonce: .hashed(credential.rawNonce)), call, now: now)
            var identity = ProviderIdentity(claims, subject: subject, idp).adding(credential.user)
            identity.idToken = token
            identity.accessToken = credential.accessToken
            let expiresAt = (NumericDate.seconds(claims["exp"]) ?? now) + ExternalTokenRules.leewaySeconds
            // Without a nonce nothing binds the token to one sign-in: a security profile accepts it once (OWASP ASVS 5.0 §10.5.1).
            let isStrict = try context.database.read { try configurations.tenant(tenantId, in: $0).hasProfile }
            let isSpent = claims["nonce"] != nil || isStrict
            return .done(.provider(identity, spending: isSpent ? .idToken(UsedToken(jws.payload, idp, expiresAt: expiresAt)) : nil))
        }
    }

    /// Runs the operation that a credential is for. If the outcome is an error, the flow is marked as used nevertheless: its response is
    /// not accepted a second time (RFC 9700 §4.5).
    func settling<Outcome>(_ spending: SingleUseGuard?, _ body: () throws -> Outcome) throws -> Outcome {
        do { return try body() } catch {
            if case .flow(let flow) = spending, FlowCredentialVerifier.isOutcome(error) {
                try FlowCredentialVerifier(context, configurations).end(flow)
            }
            throw error
        }
    }

    private func prove(_ given: FlowCredentialVerifier.Given, _ call: any CallContext, now: Int64) throws -> ProvenCredential {
        var identity: ProviderIdentity
        if let token = given.idToken {
            let (_, subject, claims) = try verify(token, from: given.idp, given.companions, call, now: now)
            let all = try UserInfo(context.service).adding(to: claims, subject: subject, of: given, call)
            identity = ProviderIdentity(all, subject: subject, given.idp)
            identity.idToken = token
        } else {
            try ProviderStrength(given.idp).requireNothing(of: given.idp.providerId)
            identity = try AccessTokenIdentity(context.service).identity(of: given.accessToken ?? "", from: given.idp, call)
        }
        identity.accessToken = given.accessToken
        identity.grant = given.grant
        return .provider(identity, spending: .flow(given.flow))
    }

    private func provider(_ id: String, of tenantId: String) throws -> IdpRecord {
        let idp = try context.database.read { try configurations.idp(id, of: tenantId, in: $0) }
        if !idp.settings.enabled { throw IdpDisabled(tenantId: tenantId, providerId: id) }
        return idp
    }

    private func verify(
        _ token: String, from idp: IdpRecord, _ companions: ExternalIDTokenRules.Companions, _ call: any CallContext, now: Int64
    ) throws -> (JWS, subject: String, JSONObject) {
        func refuse(_ check: String, _ reason: String) -> InvalidCredential {
            InvalidCredential(providerId: idp.providerId, check: check, reason: reason)
        }
        guard let issuer = idp.issuers.first else {
            throw refuse("malformed", "\(idp.providerId) has no ID tokens. Send its access token.")
        }
        let jws: JWS
        do { jws = try JWS.parse(token) } catch {
            if case .algorithmNotAllowed = error { throw refuse("algorithm", error.text) }
            throw refuse("malformed", error.text)
        }
        // Cheap checks come first: no key is fetched to reject a token that has expired or was issued to another client.
        let (subject, claims) = try ExternalIDTokenRules.claims(jws, idp, companions, now: now)
        let key: PublicKey?
        if let keys = idp.keys {
            key = keys.key(for: jws.header)
        } else {
            key = try context.foreign.key(for: jws.header, issuer: issuer, of: idp.address, call)
        }
        guard let key else { throw refuse("signature", "The provider has no key that signed the ID token.") }
        do { _ = try jws.verify(with: key) } catch {
            if case .algorithmMismatch = error {
                let (given, wanted) = (jws.header.algorithm.rawValue, key.algorithm.rawValue)
                throw refuse(
                    "algorithm",
                    "The ID token is signed with \(given), but the key is for \(wanted). Configure the provider to sign with \(wanted).")
            }
            throw refuse("signature", "The signature of the ID token is not valid for the key of the provider.")
        }
        return (jws, subject, claims)
    }
}

/// Checks which members of a credential can be combined.
enum CredentialParts {
    /// - Throws: `InvalidParams` with all members that are missing or cannot be combined.
    static func check(_ credential: Credential) throws {
        var violations: [Violation] = []
        func add(_ member: String, _ rule: String, _ message: String) {
            violations.append(Violation(pointer: "/credential/\(member)", rule: rule, message: message))
        }
        func refuse(_ members: [(String, Bool)], besides main: String) {
            for (name, isGiven) in members where isGiven { add(name, "unknown", "\(name) cannot be combined with \(main). Omit it.") }
        }
        let ofProvider = [
            ("idToken", credential.idToken != nil), ("accessToken", credential.accessToken != nil),
            ("rawNonce", credential.rawNonce != nil), ("user", credential.user != nil),
        ]
        let password = ("password", credential.password != nil)
        let url = ("url", credential.url != nil)
        let response = ("response", credential.response != nil)
        switch credential.kind {
        case .providerId:
            if credential.idToken == nil, credential.accessToken == nil {
                add("idToken", "required", "The credential of the provider is missing. Send its ID token or access token.")
            }
            if credential.idToken == nil, credential.rawNonce != nil {
                add("rawNonce", "unknown", "rawNonce requires an ID token. Omit it.")
            }
            refuse([password, url, response], besides: "providerId")
        case .email:
            if credential.password == nil { add("password", "required", "The password is missing.") }
            refuse(ofProvider + [url, response], besides: "email")
        case .pendingToken: refuse(ofProvider + [password, url, response], besides: "pendingToken")
        case .continuationToken:
            refuse(ofProvider + [password], besides: "continuationToken")
            if credential.response != nil { refuse([url], besides: "response") }
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }
}
