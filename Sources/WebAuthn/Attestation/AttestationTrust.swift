import Crypto
import Platform

/// Which attestation statements a tenant accepts (WebAuthn Level 3 section 7.1 steps 23 and 24).
public enum AttestationTrust: Sendable {
    /// Statements are checked by themselves, and passkeys without one are accepted.
    case anyone
    /// Only models that the metadata contains are accepted.
    case metadata(AuthenticatorMetadata)
    /// The metadata is required, but cannot be read now.
    case unavailable

    func judge(_ evidence: Evidence, aaguid: [UInt8], at time: Int) throws(PasskeyRefusal) -> Attestation {
        switch self {
        case .anyone:
            let trust: Attestation.Trust = evidence.isSelfSigned ? .selfSigned : evidence.certificates.isEmpty ? .none : .unchecked
            return Attestation(format: evidence.format, trust: trust, authenticatorName: nil, hasHardwareProtection: false)
        case .unavailable:
            throw .untrusted("The metadata of authenticators cannot be read.")
        case .metadata(let metadata):
            return try metadata.judge(evidence, aaguid: aaguid, at: time)
        }
    }
}

extension AuthenticatorMetadata {
    fileprivate func judge(_ evidence: Evidence, aaguid: [UInt8], at time: Int) throws(PasskeyRefusal) -> Attestation {
        guard let first = evidence.certificates.first else {
            throw .untrusted("The tenant requires an attestation by a certificate.")
        }
        let found = evidence.format == "fido-u2f" ? first.keyIdentifier.flatMap(entry(keyIdentifier:)) : entry(aaguid: aaguid)
        guard let found else { throw .untrusted("The metadata does not contain this model of authenticator.") }
        if let status = found.compromisingStatus {
            throw PasskeyRefusal(.authenticatorRevoked, "The metadata reports the status \(status) for this model of authenticator.")
        }
        guard evidence.isHardwareEnforced else { throw .untrusted("The key is not protected by the hardware of the device.") }
        let listed = found.roots.contains { $0.der == first.der }
        guard listed || first.chains(to: found.roots, through: Array(evidence.certificates.dropFirst()), at: time) else {
            throw .untrusted("No certificate chain leads to a root of this model of authenticator.")
        }
        return Attestation(
            format: evidence.format, trust: .verified, authenticatorName: found.name, hasHardwareProtection: found.hasHardwareProtection)
    }
}

extension PasskeyRefusal {
    fileprivate static func untrusted(_ detail: String) -> PasskeyRefusal { PasskeyRefusal(.attestationUntrusted, detail) }
}
