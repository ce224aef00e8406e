import Accounts
import Contract
import Platform

extension PortablePasskey {
    init(_ passkey: PasskeyRecord) {
        self.init(
            credentialId: passkey.id, publicKey: Base64URL.encode(passkey.publicKey), signCount: passkey.counter,
            userHandle: Base64URL.encode(passkey.userHandle), transports: passkey.transports.isEmpty ? nil : passkey.transports,
            backupEligible: passkey.isBackupEligible, backupState: passkey.isBackedUp, userVerified: passkey.isUserVerified,
            aaguid: passkey.aaguidText, name: passkey.name, usage: passkey.usage == .signIn ? .signIn : .secondFactor,
            relyingPartyId: passkey.relyingPartyId, createdAt: passkey.createdAt, lastUsedAt: passkey.lastUsedAt)
    }
}

extension ImportCheck {
    /// Returns the passkeys of an account. They have no account yet.
    mutating func passkeys(_ given: [PortablePasskey]) -> [PasskeyRecord] {
        guard !given.isEmpty else { return [] }
        guard let settings = tenant.settings.passkeys else {
            add("/passkeys", PasskeysOff.type, PasskeysOff(tenantId: tenant.id).message)
            return []
        }
        var passkeys: [PasskeyRecord] = []
        for (place, passkey) in given.enumerated() {
            if let record = record(of: passkey, settings, at: "/passkeys/\(place)", number: place + 1) {
                if passkeys.contains(where: { $0.credentialId == record.credentialId }) {
                    add("/passkeys/\(place)/credentialId", "uniqueItems", "The account has this passkey twice. Remove one of the two.")
                }
                passkeys.append(record)
            }
        }
        return passkeys
    }

    private mutating func record(
        of given: PortablePasskey, _ settings: PasskeySettings, at pointer: String, number: Int
    ) -> PasskeyRecord? {
        let before = violations.count
        func bytes(_ text: String, _ most: Int, _ member: String) -> [UInt8] {
            guard let bytes = Base64URL.decode(text.utf8), (1...most).contains(bytes.count) else {
                add("\(pointer)/\(member)", "pattern", "\(member) must be base64url without padding, of 1 to \(most) bytes.")
                return []
            }
            return bytes
        }
        let credentialId = bytes(given.credentialId, 1023, "credentialId")
        let userHandle = bytes(given.userHandle, 64, "userHandle")
        let publicKey = bytes(given.publicKey, 1536, "publicKey")
        var algorithm: Int64 = 0
        if !publicKey.isEmpty {
            switch PasskeyRecord.algorithm(of: publicKey) {
            case .success(let number): algorithm = number
            case .failure(let flaw): add("\(pointer)/publicKey", "publicKeyInvalid", flaw.detail)
            }
        }
        let relyingPartyId = given.relyingPartyId ?? settings.relyingPartyId
        if relyingPartyId != settings.relyingPartyId {
            add(
                "\(pointer)/relyingPartyId", "const",
                "The passkey belongs to \(relyingPartyId), but the tenant to \(settings.relyingPartyId). Browsers would not offer it.")
        }
        if given.backupState, !given.backupEligible {
            add("\(pointer)/backupState", "backupFlagsInvalid", "backupState requires backupEligible.")
        }
        guard violations.count == before else { return nil }
        let aaguid = Hex.decode((given.aaguid ?? "").replacing("-", with: "").lowercased()) ?? []
        // The attestation of an imported passkey is not known.
        var record = PasskeyRecord(
            tenantId: tenant.id, credentialId: credentialId, accountId: "", name: given.name ?? "Passkey \(number)", publicKey: publicKey,
            algorithm: algorithm, counter: given.signCount, userHandle: userHandle, transports: Set(given.transports ?? []).sorted(),
            isBackupEligible: given.backupEligible, isBackedUp: given.backupState, isUserVerified: given.userVerified,
            isDiscoverable: nil, aaguid: aaguid.count == 16 ? aaguid : [UInt8](repeating: 0, count: 16), attestationFormat: "none",
            attestationTrust: "none", relyingPartyId: relyingPartyId, createdAt: given.createdAt ?? now)
        record.usage = given.usage == .signIn ? .signIn : .secondFactor
        record.lastUsedAt = given.lastUsedAt
        return record
    }
}
