import JSON
import Platform

/// The passkey of a sign-up, as it is stored with the flow until the account exists. Nothing in it is secret.
struct SignUpPasskey: Sendable, Equatable {
    /// The user handle of the account to be, which the authenticators store.
    let userHandle: [UInt8]
    /// The accepted passkey.
    var passkey: PasskeyRecord?
    var attestationObject: [UInt8] = []

    init(userHandle: [UInt8]) { self.userHandle = userHandle }

    var text: String {
        var object: JSONObject = ["userHandle": .string(Base64URL.encode(userHandle))]
        if let passkey {
            object["attestationObject"] = .string(Base64URL.encode(attestationObject))
            object["passkey"] = .object(Self.object(of: passkey))
        }
        return JSONValue.object(object).text
    }

    init?(text: String) {
        guard let object = (try? JSONValue(parsing: text))?.object, let handle = Self.bytes(object, "userHandle") else { return nil }
        userHandle = handle
        attestationObject = Self.bytes(object, "attestationObject") ?? []
        passkey = object["passkey"]?.object.flatMap { Self.passkey(of: $0, userHandle: handle) }
    }

    private static func bytes(_ object: JSONObject, _ name: String) -> [UInt8]? {
        object[name]?.string.flatMap { Base64URL.decode($0.utf8) }
    }

    private static func object(of passkey: PasskeyRecord) -> JSONObject {
        var object: JSONObject = [
            "tenantId": .string(passkey.tenantId), "accountId": .string(passkey.accountId), "name": .string(passkey.name),
            "credentialId": .string(passkey.id), "publicKey": .string(Base64URL.encode(passkey.publicKey)),
            "algorithm": .number(JSONNumber(passkey.algorithm)), "counter": .number(JSONNumber(passkey.counter)),
            "transports": .array(passkey.transports.map { .string($0) }), "backupEligible": .bool(passkey.isBackupEligible),
            "backedUp": .bool(passkey.isBackedUp), "userVerified": .bool(passkey.isUserVerified),
            "aaguid": .string(Base64URL.encode(passkey.aaguid)), "format": .string(passkey.attestationFormat),
            "trust": .string(passkey.attestationTrust), "relyingPartyId": .string(passkey.relyingPartyId),
            "createdAt": .number(JSONNumber(passkey.createdAt)),
        ]
        object["discoverable"] = passkey.isDiscoverable.map { .bool($0) }
        object["authenticatorName"] = passkey.authenticatorName.map { .string($0) }
        object["hardware"] = passkey.isHardwareProtected.map { .bool($0) }
        return object
    }

    private static func passkey(of object: JSONObject, userHandle: [UInt8]) -> PasskeyRecord? {
        guard let credentialId = bytes(object, "credentialId"), let publicKey = bytes(object, "publicKey"),
            let algorithm = object["algorithm"]?.int, let aaguid = bytes(object, "aaguid")
        else { return nil }
        func text(_ name: String) -> String { object[name]?.string ?? "" }
        func flag(_ name: String) -> Bool { object[name]?.bool ?? false }
        var passkey = PasskeyRecord(
            tenantId: text("tenantId"), credentialId: credentialId, accountId: text("accountId"), name: text("name"),
            publicKey: publicKey, algorithm: algorithm, counter: object["counter"]?.int ?? 0, userHandle: userHandle,
            transports: object["transports"]?.array?.compactMap(\.string) ?? [], isBackupEligible: flag("backupEligible"),
            isBackedUp: flag("backedUp"), isUserVerified: flag("userVerified"), isDiscoverable: object["discoverable"]?.bool,
            aaguid: aaguid, attestationFormat: text("format"), attestationTrust: text("trust"), relyingPartyId: text("relyingPartyId"),
            createdAt: object["createdAt"]?.int ?? 0)
        passkey.authenticatorName = object["authenticatorName"]?.string
        passkey.isHardwareProtected = object["hardware"]?.bool
        return passkey
    }
}
