import WebAuthn

extension PasskeyRecord {
    /// Removes what a use of the passkey changes, for comparisons.
    mutating func forgetUse() {
        counter = 0
        isBackedUp = false
        isUserVerified = false
        lastUsedAt = nil
    }

    /// A passkey from an import. Its attestation is not known.
    package init(
        tenantId: String, credentialId: [UInt8], accountId: String, name: String, publicKey: [UInt8], algorithm: Int64, counter: Int64,
        userHandle: [UInt8], transports: [String], isBackupEligible: Bool, isBackedUp: Bool, isUserVerified: Bool, aaguid: [UInt8],
        relyingPartyId: String, createdAt: Int64
    ) {
        self.init(
            tenantId: tenantId, credentialId: credentialId, accountId: accountId, name: name, publicKey: publicKey, algorithm: algorithm,
            counter: counter, userHandle: userHandle, transports: transports, isBackupEligible: isBackupEligible, isBackedUp: isBackedUp,
            isUserVerified: isUserVerified, isDiscoverable: nil,
            aaguid: aaguid.count == 16 ? aaguid : [UInt8](repeating: 0, count: 16), attestationFormat: "none", attestationTrust: "none",
            relyingPartyId: relyingPartyId, createdAt: createdAt)
    }

    /// The reason a public key is refused, as a sentence.
    package struct KeyFlaw: Error { package let detail: String }

    /// Returns the algorithm of a public key in COSE form, if the key is valid.
    package static func algorithm(of publicKey: [UInt8]) -> Result<Int64, KeyFlaw> {
        do throws(PasskeyRefusal) { return .success(Int64(try CredentialKey(cose: publicKey).algorithm.rawValue)) } catch {
            return .failure(KeyFlaw(detail: error.detail))
        }
    }
}
