import Crypto

/// The format `packed` (WebAuthn Level 3 section 8.2).
enum PackedStatement {
    /// Returns the certificates of the statement; none if it is signed with the passkey's own key.
    static func verify(_ statement: [CBOR.Key: CBOR], _ signed: AttestedData) throws(PasskeyRefusal) -> [Certificate] {
        guard statement["ecdaaKeyId"] == nil else { throw .attestation("ECDAA attestation is not supported.") }
        let signature = try statement.signature()
        let algorithm = try statement.algorithm()
        guard let certificates = try statement.certificates() else {
            guard algorithm == signed.key.algorithm.signature, signed.key.verify(signature, of: signed.message) else {
                throw .attestation("The statement is not signed with the passkey's key and algorithm.")
            }
            return []
        }
        let certificate = certificates[0]
        guard certificate.verify(signature, of: signed.message, algorithm) else {
            throw .attestation("The statement is not signed with the key of its first certificate.")
        }
        let country = certificate.subject("2.5.4.6")
        guard certificate.version == 3, country.count == 1, country[0].utf8.count == 2,
            certificate.subject("2.5.4.10").contains(where: { !$0.isEmpty }),
            certificate.subject("2.5.4.11") == ["Authenticator Attestation"],
            certificate.subject("2.5.4.3").contains(where: { !$0.isEmpty })
        else {
            throw .attestation("The certificate is not version 3 with country, organization, unit \"Authenticator Attestation\" and name.")
        }
        guard certificate.extension("2.5.29.19") != nil, !certificate.isAuthority else {
            throw .attestation("The certificate has no basic constraints, or may sign other certificates.")
        }
        try certificate.checkAAGUID(signed.credential.aaguid)
        return certificates
    }
}

/// The format `fido-u2f` (WebAuthn Level 3 section 8.6).
enum U2FStatement {
    static func verify(_ statement: [CBOR.Key: CBOR], _ signed: AttestedData) throws(PasskeyRefusal) -> [Certificate] {
        guard let certificates = try statement.certificates(), certificates.count == 1 else {
            throw .attestation("A statement of the format fido-u2f has exactly one certificate.")
        }
        guard case .ec(.p256, let x, let y) = signed.key.material, certificates[0].publicKey(.ES256)?.algorithm == .ES256 else {
            throw .attestation("The keys of the passkey and of the certificate must be on the curve P-256.")
        }
        let message = [0] + signed.authenticator.relyingPartyHash + signed.clientDataHash + signed.credential.credentialID + [4] + x + y
        guard certificates[0].verify(try statement.signature(), of: message, .ES256) else {
            throw .attestation("The statement is not signed with the key of its certificate.")
        }
        return certificates
    }
}

/// The format `apple` (WebAuthn Level 3 section 8.8).
enum AppleStatement {
    static func verify(_ statement: [CBOR.Key: CBOR], _ signed: AttestedData) throws(PasskeyRefusal) -> [Certificate] {
        guard let certificates = try statement.certificates() else { throw .attestation("The statement has no certificate.") }
        let nonce = Hash.sha256(signed.message)
        guard let found = certificates[0].extension("1.2.840.113635.100.8.2"), let outer = ASN1(found.value), outer.tag == .sequence,
            let wrapper = outer.elements?.first(where: { $0.tag == .context(1) }), let inner = ASN1(wrapper.content),
            inner.tag == .octetString, Array(inner.content) == nonce
        else { throw .attestation("The certificate was not issued for this registration.") }
        guard certificates[0].hasKey(signed.key) else { throw .attestation("The certificate has another key than the passkey.") }
        return certificates
    }
}
