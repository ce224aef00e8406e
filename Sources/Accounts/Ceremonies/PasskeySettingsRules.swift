import Contract
import Platform
import Storage
import WebAuthn

/// Validates the passkey settings of a tenant beyond their schema.
enum PasskeySettingsRules {
    /// - Throws: `InvalidTenantSettings`.
    static func check(_ settings: PasskeySettings) throws {
        func refuse(_ member: String, _ reason: String) -> InvalidTenantSettings {
            InvalidTenantSettings(pointer: "/passkeys/\(member)", reason: reason)
        }
        let id = settings.relyingPartyId
        guard isDomain(id) else {
            throw refuse("relyingPartyId", "it must be a domain in lower case, such as example.com, without scheme, port and final dot")
        }
        for (index, origin) in settings.origins.enumerated() {
            if let flaw = flaw(inOwn: origin, of: id) { throw refuse("origins/\(index)", flaw) }
        }
        for (index, origin) in (settings.relatedOrigins ?? []).enumerated() where serialized(origin)?.scheme != .https {
            throw refuse("relatedOrigins/\(index)", form)
        }
        for (index, origin) in (settings.topOrigins ?? []).enumerated() where origin != "*" {
            guard let url = serialized(origin), url.scheme == .https || isLocal(url.host) else {
                throw refuse("topOrigins/\(index)", form + ", or *")
            }
        }
        for (index, number) in (settings.algorithms ?? []).enumerated() where CredentialKey.Algorithm(rawValue: Int(number)) == nil {
            throw refuse("algorithms/\(index)", "it must be one of -7, -8, -35 and -257")
        }
    }

    /// - Throws: `InvalidTenantSettings` if passkeys exist that the changed relying party ID makes useless.
    static func check(
        change settings: PasskeySettings?, of tenant: TenantRecord, in tx: Transaction
    ) throws {
        guard let old = tenant.settings.passkeys?.relyingPartyId, let new = settings?.relyingPartyId, old != new,
            try tx.hasPasskeys(in: tenant.id)
        else { return }
        throw InvalidTenantSettings(
            pointer: "/passkeys/relyingPartyId",
            reason:
                "the tenant has passkeys of \(old), which could then no longer be used; call tenant.update with force to change it"
        )
    }

    private static let form =
        "it must be an https origin such as https://www.example.com, in lower case, without path, final slash and default port"

    private static func flaw(inOwn origin: String, of id: String) -> String? {
        let android = "android:apk-key-hash:"
        if origin.hasPrefix(android) {
            return Base64URL.decode(origin.dropFirst(android.count).utf8)?.count == 32
                ? nil : "android:apk-key-hash: must be followed by the 32 bytes of a SHA-256 in base64url"
        }
        guard let url = serialized(origin) else { return form }
        guard url.scheme == .https || isLocal(url.host) else { return "http is allowed only for localhost; use https" }
        guard url.host == id || url.host.hasSuffix("." + id) else {
            return "its host must be \(id) or a subdomain of it; other domains belong in relatedOrigins"
        }
        return nil
    }

    private static func isLocal(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }

    /// Returns an origin in serialized form (RFC 6454 section 6.2), or `nil`: only scheme, domain and a port that is not the default.
    private static func serialized(_ origin: String) -> HTTPURL? {
        guard let url = try? HTTPURL(origin), url.origin == origin, isDomain(url.host),
            url.port.map({ $0 != (url.scheme == .https ? 443 : 80) }) ?? true
        else { return nil }
        return url
    }

    /// Whether a text is a domain of lower-case A-labels, and not an IP address.
    private static func isDomain(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...253).contains(text.utf8.count), !labels.last!.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        }
    }
}

extension PasskeySettings {
    static let allAlgorithms: [Int64] = [-7, -8, -35, -257]

    var offeredAlgorithms: [Int64] { algorithms ?? Self.allAlgorithms }

    var relyingParty: RelyingParty {
        RelyingParty(id: relyingPartyId, origins: origins + (relatedOrigins ?? []), topOrigins: topOrigins ?? [])
    }
}

extension TenantRecord {
    /// - Throws: `PasskeysOff`.
    func passkeySettings() throws -> PasskeySettings {
        guard let passkeys = settings.passkeys else { throw PasskeysOff(tenantId: id) }
        return passkeys
    }
}
