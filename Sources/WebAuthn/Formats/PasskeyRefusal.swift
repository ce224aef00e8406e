/// The reason the response of an authenticator was refused. The raw values are those of `reason` in `passkeyNotAccepted`.
public enum PasskeyRefusalReason: String, Sendable, CaseIterable {
    case clientDataInvalid, wrongType, challengeMismatch, originNotAllowed, crossOriginNotAllowed, topOriginNotAllowed
    case tokenBindingPresent, cborInvalid, authenticatorDataInvalid, relyingPartyMismatch, userNotPresent, userNotVerified
    case backupFlagsInvalid, backupEligibilityChanged, algorithmNotAllowed, publicKeyInvalid, attestationFormatUnknown
    case attestationInvalid, attestationUntrusted, authenticatorRevoked, credentialIdInvalid, alreadyRegistered
    case credentialNotAllowed, credentialUnknown, userHandleMismatch, signatureInvalid, counterRegressed
}

/// A response of an authenticator that failed a check.
public struct PasskeyRefusal: Error, Sendable {
    public let reason: PasskeyRefusalReason
    /// A sentence with the expected and the found value, without challenges and keys.
    public let detail: String

    public init(_ reason: PasskeyRefusalReason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}
