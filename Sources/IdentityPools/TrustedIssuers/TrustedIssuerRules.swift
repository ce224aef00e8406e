import Platform
import Contract
import Crypto
import Federation
import JSON
import ServiceContext

/// The rules for the settings of a trusted issuer. All violations are collected.
package struct TrustedIssuerRules {
    private let realm: Deployment
    private let allowsPlainLoopback: Bool
    package private(set) var violations: [Violation] = []

    package init(_ realm: Deployment, allowsPlainLoopback: Bool) {
        self.realm = realm
        self.allowsPlainLoopback = allowsPlainLoopback
    }

    /// Returns the name of the issuer.
    ///
    /// - Throws: `InvalidTrustedIssuer` with all violations.
    package static func name(of settings: TrustedIssuerDeclaration, in realm: Deployment, allowsPlainLoopback: Bool) throws -> String {
        var rules = TrustedIssuerRules(realm, allowsPlainLoopback: allowsPlainLoopback)
        let name = rules.check(settings)
        guard let name, rules.violations.isEmpty else { throw Self.refusal(rules.violations) }
        return name
    }

    static func refusal(_ violations: [Violation]) -> InvalidTrustedIssuer {
        InvalidTrustedIssuer(reason: violations.map(\.message).joined(separator: " "), violations: violations)
    }

    private mutating func add(_ pointer: String, _ rule: String, _ message: String) {
        violations.append(Violation(pointer: pointer, rule: rule, message: message))
    }

    /// Checks the settings and returns the name of the issuer, if it has one.
    package mutating func check(_ settings: TrustedIssuerDeclaration) -> String? {
        let name: String?
        switch settings.source {
        case .issuer(let issuer): name = check(issuer: issuer, settings)
        case .tenantId(let id):
            name = Self.strip(realm.issuer(of: .tenant(id)))
            let given: [(String, Bool)] = [
                ("keys", settings.keys != nil), ("jwksUri", settings.jwksUri != nil), ("algorithms", settings.algorithms != nil),
                ("types", settings.types != nil), ("allowInsecure", settings.allowInsecure),
                ("allowPrivateNetwork", settings.allowPrivateNetwork),
            ]
            for (member, _) in given.filter(\.1) {
                add("/\(member)", "tenant", "A tenant of this store has its own keys. Omit \(member).")
            }
        }
        if let keys = settings.keys { check(keys: keys, settings) }
        if let url = settings.jwksUri, ProviderURL.of(url, Self.policy(settings, allowsPlainLoopback)) == nil {
            add("/jwksUri", "url", "jwksUri must be an https URL without query and fragment.\(ProviderURL.hint(url))")
        }
        for (index, type) in (settings.types ?? []).enumerated() where TokenTypes.foreign.contains(TokenTypes.canonical(type)) {
            add("/types/\(index)", "type", "Tokens of the type \(type) have another purpose and cannot be accepted. Remove it.")
        }
        for claim in settings.claims ?? [:] { check(claim: claim.name, claim.value) }
        for (index, print) in (settings.thumbprints ?? []).enumerated() where !print.utf8.allSatisfy({ Self.isHexadecimal($0) }) {
            add("/thumbprints/\(index)", "pattern", "A thumbprint has 40 hexadecimal digits.")
        }
        violations += ResourceTags.violations(settings.tags, at: "/tags")
        return name
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte || 0x41...0x46 ~= byte || 0x61...0x66 ~= byte }

    private static func policy(_ settings: TrustedIssuerDeclaration, _ allowsPlainLoopback: Bool) -> AddressPolicy {
        ProviderURL.policy(allowsPlainLoopback: settings.allowInsecure || allowsPlainLoopback)
    }

    /// Returns an issuer without its scheme.
    package static func strip(_ issuer: String) -> String {
        String(issuer.dropFirst(issuer.hasPrefix("https://") ? 8 : issuer.hasPrefix("http://") ? 7 : 0))
    }

    private mutating func check(issuer: String, _ settings: TrustedIssuerDeclaration) -> String? {
        if let owner = realm.owner(ofIssuer: issuer) {
            let advice =
                owner.tenantId.map { "It is a tenant of this store. Use tenantId \($0) instead." }
                ?? (owner.isAccount
                    ? "It is the account of this store. As in AWS, its tokens are for other services only."
                    : "It is a pool of this store, whose tokens are accepted without a record.")
            add("/issuer", "ownIssuer", "The issuer is not accepted. \(advice)")
            return nil
        }
        if DiscoveryURL.isDocument(issuer) {
            add("/issuer", "url", "The URL of a discovery document is not an issuer. Use the value of issuer in that document.")
            return nil
        }
        guard let rest = ProviderURL.of(issuer, Self.policy(settings, allowsPlainLoopback))?.withoutScheme else {
            add(
                "/issuer", "url",
                "The issuer must be an https URL without query, fragment and user information.\(ProviderURL.hint(issuer))")
            return nil
        }
        let name = String(rest)
        let host = name.prefix { $0 != "/" }
        if host.contains(where: { $0.isASCII && $0.isUppercase }) {
            add("/issuer", "url", "The host of the issuer must be in lowercase.")
        }
        // These names would let claims of the issuer take the place of condition keys that other parties set.
        if ["aws", "sts", TrustPolicy.federatedPrincipal].contains(name) {
            add("/issuer", "reserved", "The name \(name) is reserved for condition keys of another kind.")
        }
        return name
    }

    private mutating func check(keys: [JSONObject], _ settings: TrustedIssuerDeclaration) {
        if settings.jwksUri != nil { add("/jwksUri", "exclusive", "keys and jwksUri exclude each other. Omit one of them.") }
        do { _ = try Self.keys(keys) } catch let error as InvalidTrustedIssuer { violations += error.violations } catch {}
    }

    /// - Throws: `InvalidTrustedIssuer` if a key is private, symmetric, weak or repeated.
    static func keys(_ keys: [JSONObject]) throws -> JWKSet {
        var known: [PublicKey] = []
        var violations: [Violation] = []
        for (index, key) in keys.enumerated() {
            do {
                known.append(try PublicKey(jwk: try JSONText(JSONValue.object(key).text).root))
            } catch {
                violations.append(Violation(pointer: "/keys/\(index)", rule: "key", message: "Key \(index) cannot be used: \(error)."))
            }
        }
        let set = JWKSet(known)
        if let key = set.repeated {
            violations.append(Violation(pointer: "/keys", rule: "key", message: "Two keys have the kid \(key.keyID)."))
        }
        if !violations.isEmpty { throw refusal(violations) }
        return set
    }

    private mutating func check(claim: String, _ patterns: [String]) {
        let pointer = "/claims/\(JSONPointer.escaped(claim))"
        for (index, pattern) in patterns.enumerated() where pattern.hasPrefix("spiffe://") {
            let domain = pattern.dropFirst(9).prefix { $0 != "/" }
            if domain.isEmpty || domain.contains("*") || domain.contains("?") {
                add(
                    "\(pointer)/\(index)", "trustDomain",
                    "A pattern for SPIFFE IDs must contain the whole trust domain, such as spiffe://example.org/*.")
            }
        }
    }
}
