import Contract

/// Validates the settings of an application beyond their schema.
package enum ApplicationRules {
    /// - Throws: `InvalidApplication`.
    package static func check(_ settings: ApplicationPut.Params, of tenant: TenantRecord) throws {
        func refuse(_ pointer: String, _ reason: String) -> InvalidApplication { InvalidApplication(pointer: pointer, reason: reason) }
        if settings.clientId == tenant.id {
            if settings.type != .public { throw refuse("/type", "the default application of a tenant is always public") }
            if !settings.nativeAuthentication {
                throw refuse("/nativeAuthentication", "the default application of a tenant always has native authentication")
            }
        }
        for (place, audience) in (settings.audiences ?? []).enumerated() where audience != tenant.id && !tenant.audiences.contains(audience)
        {
            throw refuse("/audiences/\(place)", "the tenant does not have this audience; add it to the audiences of the tenant first")
        }
        let offered = Scopes.standard + tenant.allScopes
        for (place, scope) in (settings.scopes ?? []).enumerated() where !offered.contains(scope) {
            throw refuse("/scopes/\(place)", "the tenant does not offer this scope; add it to the scopes of the tenant first")
        }
        let own = settings.scopes.map { Scopes.standard + $0 } ?? offered
        for (place, scope) in (settings.consent ?? []).enumerated() where !own.contains(scope) {
            throw refuse("/consent/\(place)", "the application does not have this scope; add it to scopes first")
        }
        for (place, origin) in (settings.origins ?? []).enumerated() where !isOrigin(origin) {
            throw refuse("/origins/\(place)", "it must be a scheme, a host and an optional port, such as https://shop.example.com")
        }
        for (place, uri) in (settings.redirectUris ?? []).enumerated() where !isRedirect(uri) {
            throw refuse("/redirectUris/\(place)", "it must be an absolute URI without a fragment and without spaces")
        }
    }

    /// Whether `text` is a serialized origin (RFC 6454 §6.2), as browsers send it: in lower case, without a path.
    static func isOrigin(_ text: String) -> Bool {
        guard let rest = ["https://", "http://"].first(where: text.hasPrefix).map({ text.dropFirst($0.count) }), !rest.isEmpty else {
            return false
        }
        return rest.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]")].contains(byte)
        }
    }

    /// Whether `text` is an absolute URI without a fragment (RFC 6749 §3.1.2).
    static func isRedirect(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, text.index(after: colon) != text.endIndex else {
            return false
        }
        let scheme = text[..<colon]
        guard let first = scheme.utf8.first, isLetter(first) else { return false }
        let isScheme = scheme.utf8.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+")].contains(byte)
        }
        return isScheme && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension TenantRules {
    /// - Throws: `InvalidTenantSettings` if scopes are declared twice for an audience, or for one that the tenant does not have.
    static func checkAudiences(_ settings: TenantCreate.Params) throws {
        var seen: Set<String> = []
        for (place, entry) in (settings.audienceScopes ?? []).enumerated() {
            let pointer = "/audienceScopes/\(place)/audience"
            guard settings.audiences?.contains(entry.audience) == true else {
                throw InvalidTenantSettings(pointer: pointer, reason: "audiences does not contain it; add it there")
            }
            guard seen.insert(entry.audience).inserted else {
                throw InvalidTenantSettings(pointer: pointer, reason: "the audience occurs twice")
            }
        }
    }
}
