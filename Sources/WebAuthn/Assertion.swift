import Crypto

/// The response of an authenticator to a sign-in, decoded from base64url.
public struct AssertionResponse: Sendable {
    public let clientData: [UInt8]
    public let authenticatorData: [UInt8]
    public let signature: [UInt8]

    public init(clientData: [UInt8], authenticatorData: [UInt8], signature: [UInt8]) {
        self.clientData = clientData
        self.authenticatorData = authenticatorData
        self.signature = signature
    }
}

/// The stored facts about a passkey that are compared with an assertion.
public struct StoredCredential: Sendable {
    public let key: CredentialKey
    public let counter: UInt32
    public let backupEligible: Bool

    public init(key: CredentialKey, counter: UInt32, backupEligible: Bool) {
        self.key = key
        self.counter = counter
        self.backupEligible = backupEligible
    }
}

/// The values of an accepted assertion.
public struct AcceptedAssertion: Sendable, Equatable {
    public let counter: UInt32
    public let userVerified: Bool
    public let backedUp: Bool
}

extension CeremonyExpectation {
    /// Checks an assertion (WebAuthn Level 3 section 7.2 steps 7 to 22). Which passkey and which account it belongs to is decided before.
    public func verify(_ response: AssertionResponse, of credential: StoredCredential) throws(PasskeyRefusal) -> AcceptedAssertion {
        let client = try ClientData(response.clientData, ceremony: .get, challenge: challenge, relyingParty: relyingParty)
        let authenticator = try AuthenticatorData(response.authenticatorData, ceremony: .get)
        try authenticator.check(self)
        guard authenticator.flags.contains(.backupEligible) == credential.backupEligible else {
            throw PasskeyRefusal(.backupEligibilityChanged, "The passkey's eligibility for backup differs from that of its registration.")
        }
        guard credential.key.verify(response.signature, of: authenticator.bytes + client.hash) else {
            throw PasskeyRefusal(.signatureInvalid, "The signature is not valid for the passkey's key.")
        }
        try Self.checkCounter(authenticator.counter, after: credential.counter)
        return AcceptedAssertion(
            counter: authenticator.counter, userVerified: authenticator.flags.contains(.userVerified),
            backedUp: authenticator.flags.contains(.backedUp))
    }

    /// Checks that a counter grows, if the authenticator counts. The store repeats this check in the transaction that stores the counter.
    public static func checkCounter(_ counter: UInt32, after stored: UInt32) throws(PasskeyRefusal) {
        guard counter > stored || (counter == 0 && stored == 0) else {
            throw PasskeyRefusal(.counterRegressed, "The signature counter is \(counter); it must be greater than \(stored).")
        }
    }
}
