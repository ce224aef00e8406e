import Crypto

/// The format `android-key` (WebAuthn Level 3 section 8.4).
enum AndroidKeyStatement {
    /// Returns the certificates, and whether hardware enforces the origin and the purpose of the key.
    static func verify(
        _ statement: [CBOR.Key: CBOR], _ signed: AttestedData
    ) throws(PasskeyRefusal) -> (certificates: [Certificate], isHardwareEnforced: Bool) {
        guard let certificates = try statement.certificates() else { throw .attestation("The statement has no certificate.") }
        guard certificates[0].verify(try statement.signature(), of: signed.message, try statement.algorithm()) else {
            throw .attestation("The statement is not signed with the key of its first certificate.")
        }
        guard certificates[0].hasKey(signed.key) else { throw .attestation("The certificate has another key than the passkey.") }
        guard let found = certificates[0].extension("1.3.6.1.4.1.11129.2.1.17"), let parts = ASN1(found.value)?.elements, parts.count >= 8,
            parts[4].tag == .octetString, let software = AuthorizationList(parts[6]), let hardware = AuthorizationList(parts[7])
        else { throw .attestation("The certificate has no description of the key.") }
        guard Array(parts[4].content) == signed.clientDataHash else {
            throw .attestation("The certificate was not issued for this registration.")
        }
        guard !software.hasAllApplications, !hardware.hasAllApplications else {
            throw .attestation("The key can be used by all applications.")
        }
        for list in [software, hardware] {
            guard list.origin ?? AuthorizationList.generated == AuthorizationList.generated,
                list.purposes ?? [AuthorizationList.sign] == [AuthorizationList.sign]
            else { throw .attestation("The key was not generated in the key store, or is not for signing alone.") }
        }
        return (certificates, hardware.origin != nil && hardware.purposes != nil)
    }
}

/// A list of authorizations of an Android key, as far as the format needs it.
private struct AuthorizationList {
    /// `KM_ORIGIN_GENERATED` and `KM_PURPOSE_SIGN` of Android's key store.
    static let generated = 0
    static let sign = 2

    var hasAllApplications = false
    var origin: Int?
    var purposes: [Int]?

    init?(_ element: ASN1) {
        guard element.tag == .sequence, let members = element.elements else { return nil }
        for member in members {
            switch member.tag {
            case .context(600): hasAllApplications = true
            case .context(702):
                guard let value = ASN1(member.content)?.smallNumber else { return nil }
                origin = value
            case .context(1):
                guard let set = ASN1(member.content), set.tag == .set, let values = set.elements else { return nil }
                purposes = values.map { $0.smallNumber ?? -1 }
            default: break
            }
        }
    }
}
