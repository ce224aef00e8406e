import Contract
import JSON
import Platform

/// The options for the browser, in the JSON form of WebAuthn Level 3 sections 5.1.8 and 5.1.9.
enum PasskeyOptions {
    private static let timeoutMilliseconds: Int64 = 300_000
    /// Authenticators may shorten names beyond 64 bytes (section 6.4.1).
    private static let longestName = 64

    /// A credential that the browser may use or must not register again.
    struct Descriptor: Sendable, Equatable {
        let id: String
        let transports: [String]

        init(id: String, transports: [String]) {
            self.id = id
            self.transports = transports
        }

        init(_ passkey: PasskeyRecord) { self.init(id: passkey.id, transports: passkey.transports) }

        var json: JSONValue {
            var object: JSONObject = ["type": "public-key", "id": .string(id)]
            if !transports.isEmpty { object["transports"] = .array(transports.map { .string($0) }) }
            return .object(object)
        }
    }

    static func creation(
        _ ceremony: StoredCeremony, for account: AccountRecord, in tenant: TenantRecord, _ settings: PasskeySettings,
        excluding passkeys: [PasskeyRecord]
    ) -> JSONObject {
        let name = names(of: account, in: tenant, settings)
        let isFactor = ceremony.kind == .enrollment
        let residentKey = isFactor ? .discouraged : settings.residentKey
        return [
            "rp": ["id": .string(settings.relyingPartyId), "name": .string(relyingPartyName(tenant, settings))],
            "user": [
                "id": .string(Base64URL.encode(ceremony.userHandle)), "name": .string(name.name), "displayName": .string(name.displayName),
            ],
            "challenge": .string(ceremony.challenge),
            "pubKeyCredParams": .array(
                ceremony.algorithms.map { ["type": "public-key", "alg": .number(JSONNumber($0))] }),
            "timeout": .number(JSONNumber(timeoutMilliseconds)),
            "excludeCredentials": .array(passkeys.map { Descriptor($0).json }),
            "authenticatorSelection": [
                "residentKey": .string(residentKey.rawValue), "requireResidentKey": .bool(residentKey == .required),
                "userVerification": .string(verification(ceremony, settings)),
            ],
            "attestation": .string(settings.attestation.rawValue),
            "extensions": ["credProps": true],
        ]
    }

    private static func verification(_ ceremony: StoredCeremony, _ settings: PasskeySettings) -> String {
        switch ceremony.kind {
        // A second factor adds possession to what the user has shown already.
        case .enrollment, .challenge: settings.userVerification == .required ? "required" : "discouraged"
        case .authentication: ceremony.requiresUserVerification ? "required" : settings.userVerification.rawValue
        // A browser cannot verify a user without a dialog, and refuses such a request.
        case .registration where ceremony.isConditional && settings.userVerification == .required: "preferred"
        case .registration: settings.userVerification.rawValue
        }
    }

    static func request(_ ceremony: StoredCeremony, _ settings: PasskeySettings, allowed: [Descriptor]) -> JSONObject {
        var options: JSONObject = ["challenge": .string(ceremony.challenge), "rpId": .string(settings.relyingPartyId)]
        if !ceremony.isConditional { options["timeout"] = .number(JSONNumber(timeoutMilliseconds)) }
        options["userVerification"] = .string(verification(ceremony, settings))
        options["allowCredentials"] = .array(allowed.map(\.json))
        return options
    }

    static func relyingPartyName(_ tenant: TenantRecord, _ settings: PasskeySettings) -> String {
        String((settings.relyingPartyName ?? tenant.settings.name ?? settings.relyingPartyId).prefix(longestName))
    }

    /// The names of the user that the authenticator stores and shows.
    static func names(
        of account: AccountRecord, in tenant: TenantRecord, _ settings: PasskeySettings
    ) -> (name: String, displayName: String) {
        guard let username = account.username else {
            let name = relyingPartyName(tenant, settings)
            return (name, name)
        }
        let displayName = account.attributes["displayName"]?.string ?? ""
        return (String(username.prefix(longestName)), String((displayName.isEmpty ? username : displayName).prefix(longestName)))
    }
}
