import Crypto
import Platform

/// The expectations of a ceremony.
public struct CeremonyExpectation: Sendable {
    /// The base64url text of the challenge.
    public let challenge: String
    public let relyingParty: RelyingParty
    /// Whether the authenticator must have verified the user.
    public let requiresUserVerification: Bool

    public init(challenge: String, relyingParty: RelyingParty, requiresUserVerification: Bool) {
        self.challenge = challenge
        self.relyingParty = relyingParty
        self.requiresUserVerification = requiresUserVerification
    }
}

/// The response of an authenticator to a registration, decoded from base64url.
public struct RegistrationResponse: Sendable {
    public let rawID: [UInt8]
    public let clientData: [UInt8]
    public let attestationObject: [UInt8]

    public init(rawID: [UInt8], clientData: [UInt8], attestationObject: [UInt8]) {
        self.rawID = rawID
        self.clientData = clientData
        self.attestationObject = attestationObject
    }
}

/// A passkey whose registration was accepted.
public struct RegisteredCredential: Sendable {
    public let credentialID: [UInt8]
    /// The COSE key, as the bytes that came.
    public let publicKey: [UInt8]
    public let algorithm: CredentialKey.Algorithm
    /// The model of the authenticator: 16 bytes, often zero.
    public let aaguid: [UInt8]
    public let counter: UInt32
    public let userVerified: Bool
    public let backupEligible: Bool
    public let backedUp: Bool
    public let attestation: Attestation
}

/// The rules of a registration (WebAuthn Level 3 section 7.1). Whether the credential ID is new is decided by the store.
public struct Registration: Sendable {
    public let expectation: CeremonyExpectation
    /// The algorithms that were offered.
    public let algorithms: [CredentialKey.Algorithm]
    /// Whether the browser created the passkey without a dialog, so that presence and verification of the user are not checked.
    public let isConditional: Bool
    public let trust: AttestationTrust

    public init(
        _ expectation: CeremonyExpectation, algorithms: [CredentialKey.Algorithm], isConditional: Bool = false,
        trust: AttestationTrust = .anyone
    ) {
        self.expectation = expectation
        self.algorithms = algorithms
        self.isConditional = isConditional
        self.trust = trust
    }

    /// Checks a response. The first check that fails is the error.
    ///
    /// - Parameter time: The time of the registration in seconds since 1970, at which certificates must be valid.
    public func verify(_ response: RegistrationResponse, at time: Int) throws(PasskeyRefusal) -> RegisteredCredential {
        let client = try ClientData(
            response.clientData, ceremony: .create, challenge: expectation.challenge, relyingParty: expectation.relyingParty)
        guard let object = CBOR.read(whole: response.attestationObject[...])?.map, let format = object["fmt"]?.text,
            let data = object["authData"]?.bytes, let statement = object["attStmt"]?.map
        else { throw PasskeyRefusal(.cborInvalid, "The attestation object is not a CBOR map with fmt, authData and attStmt.") }
        let authenticator = try AuthenticatorData(data, ceremony: .create)
        guard let attested = authenticator.attested else {
            throw PasskeyRefusal(.authenticatorDataInvalid, "The authenticator data has no new credential.")
        }
        try authenticator.check(expectation, skipsUser: isConditional)
        let key = try CredentialKey(cose: attested.publicKey)
        guard algorithms.contains(key.algorithm) else {
            throw PasskeyRefusal(.algorithmNotAllowed, "The algorithm \(key.algorithm.rawValue) was not offered.")
        }
        let signed = AttestedData(authenticator: authenticator, credential: attested, key: key, clientDataHash: client.hash)
        let evidence = try Evidence(format: format, statement: statement, signed)
        let attestation = try trust.judge(evidence, aaguid: attested.aaguid, at: time)
        guard (1...1023).contains(attested.credentialID.count), attested.credentialID == response.rawID else {
            throw PasskeyRefusal(
                .credentialIdInvalid, "The credential ID has not 1 to 1,023 bytes, or is not that of the attested credential.")
        }
        return RegisteredCredential(
            credentialID: attested.credentialID, publicKey: attested.publicKey, algorithm: key.algorithm, aaguid: attested.aaguid,
            counter: authenticator.counter, userVerified: authenticator.flags.contains(.userVerified),
            backupEligible: authenticator.flags.contains(.backupEligible), backedUp: authenticator.flags.contains(.backedUp),
            attestation: attestation)
    }
}

extension AuthenticatorData {
    /// Checks the relying party and the flags (sections 7.1 steps 14 to 17, 7.2 steps 15 to 18).
    func check(_ expectation: CeremonyExpectation, skipsUser: Bool = false) throws(PasskeyRefusal) {
        guard relyingPartyHash == Hash.sha256(Array(expectation.relyingParty.id.utf8)) else {
            throw PasskeyRefusal(
                .relyingPartyMismatch,
                "The passkey belongs to another domain: the hash is \(Hex.encode(relyingPartyHash)), not that of \(expectation.relyingParty.id)."
            )
        }
        guard skipsUser || flags.contains(.userPresent) else {
            throw PasskeyRefusal(.userNotPresent, "The authenticator did not test that a user is present.")
        }
        guard skipsUser || !expectation.requiresUserVerification || flags.contains(.userVerified) else {
            throw PasskeyRefusal(.userNotVerified, "The authenticator did not verify the user, by a PIN or biometrics for example.")
        }
        guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else {
            throw PasskeyRefusal(.backupFlagsInvalid, "The passkey is backed up although it is not eligible for backup.")
        }
    }
}
