import Crypto
import Platform
import Testing

@testable import WebAuthn

/// The checks of sections 7.1 and 7.2, one at a time.
@Suite struct CeremonyTests {
    private let vector = Vector.named("none-es256")

    private func registration(_ change: (inout [UInt8]) -> Void) -> RegistrationResponse {
        var client = vector.registration.clientData
        change(&client)
        return RegistrationResponse(
            rawID: vector.registration.rawID, clientData: client, attestationObject: vector.registration.attestationObject)
    }

    @Test(arguments: [
        ("\"webauthn.create\"", "\"webauthn.get\"", PasskeyRefusalReason.wrongType),
        ("\"webauthn.create\"", "7", .clientDataInvalid),
        ("https://example.org", "https://example.org.evil.example", .originNotAllowed),
        ("https://example.org", "https://EXAMPLE.org", .originNotAllowed),
        ("https://example.org", "http://example.org", .originNotAllowed),
        ("https://example.org", "https://example.org:8443", .originNotAllowed),
        ("https://example.org", "https://example.org/", .originNotAllowed),
        ("\"crossOrigin\":false", "\"crossOrigin\":\"false\"", .clientDataInvalid),
        ("\"crossOrigin\":false", "\"crossOrigin\":false,\"topOrigin\":\"https://example.com\"", .topOriginNotAllowed),
        ("\"crossOrigin\":false", "\"crossOrigin\":false,\"tokenBinding\":{\"status\":\"present\",\"id\":\"x\"}", .tokenBindingPresent),
        ("\"crossOrigin\":false", "\"crossOrigin\":false,\"type\":\"webauthn.create\"", .clientDataInvalid),
        ("{", "[", .clientDataInvalid),
        ("}", "}}", .clientDataInvalid),
    ]) func clientDataIsChecked(_ old: String, _ new: String, _ expected: PasskeyRefusalReason) {
        let response = registration { $0 = $0.replacing(old, new) }
        #expect(response.clientData != vector.registration.clientData)
        #expect(reason { () throws(PasskeyRefusal) in try vector.register(response: response) } == expected)
    }

    @Test(arguments: [
        ("\"crossOrigin\":false", "\"crossOrigin\":false,\"tokenBinding\":{\"status\":\"supported\"}"),
        ("\"crossOrigin\":false", "\"crossOrigin\":false,\"other\":[1,2,{}]"),
        ("{", "\u{FEFF}{"),
    ]) func harmlessClientDataIsAccepted(_ old: String, _ new: String) {
        let response = registration { $0 = $0.replacing(old, new) }
        #expect(response.clientData != vector.registration.clientData)
        #expect(reason { () throws(PasskeyRefusal) in try vector.register(response: response) } == nil)
    }

    /// Changes authenticator data at its place in the attestation object of the format none, which nothing signs.
    private func withFlags(_ change: (inout [UInt8], Int) -> Void) -> RegistrationResponse {
        var object = vector.registration.attestationObject
        let hash = Hash.sha256(Array("example.org".utf8))
        let start = (0..<object.count - 32).first { Array(object[$0..<$0 + 32]) == hash }!
        change(&object, start)
        return RegistrationResponse(rawID: vector.registration.rawID, clientData: vector.registration.clientData, attestationObject: object)
    }

    @Test func authenticatorDataIsChecked() throws {
        let cases: [(PasskeyRefusalReason?, Bool, (inout [UInt8], Int) -> Void)] = [
            (.relyingPartyMismatch, false, { $0[$1] ^= 1 }),
            (.userNotPresent, false, { $0[$1 + 32] &= ~0x01 }),
            (.userNotVerified, true, { $0[$1 + 32] &= ~0x04 }),
            (nil, false, { $0[$1 + 32] &= ~0x04 }),
            (.backupFlagsInvalid, false, { $0[$1 + 32] = 0x51 }),
            (nil, false, { $0[$1 + 32] = 0x49 | 0x22 }),
            (.authenticatorDataInvalid, false, { $0[$1 + 32] &= ~0x40 }),
            (.authenticatorDataInvalid, false, { $0[$1 + 32] |= 0x80 }),
            (.authenticatorDataInvalid, false, { $0[$1 + 53] = 0xFF }),
            (.credentialIdInvalid, false, { $0[$1 + 55] ^= 1 }),
        ]
        for (index, (expected, requiresUser, change)) in cases.enumerated() {
            let response = withFlags(change)
            #expect(
                reason { () throws(PasskeyRefusal) in try vector.register(response: response, requiresUser: requiresUser) } == expected,
                "case \(index)")
        }
    }

    @Test func conditionalCreationNeedsNoUser() throws {
        let response = withFlags { $0[$1 + 32] &= ~0x05 }
        let conditional = Registration(
            vector.expectation("r", requiresUser: true), algorithms: [.es256], isConditional: true)
        #expect(reason { () throws(PasskeyRefusal) in try conditional.verify(response, at: 0) } == nil)
    }

    @Test func onlyOfferedAlgorithmsAreAccepted() {
        let registration = Registration(vector.expectation("r"), algorithms: [.rs256])
        #expect(reason { () throws(PasskeyRefusal) in try registration.verify(vector.registration, at: 0) } == .algorithmNotAllowed)
    }

    @Test(
        arguments: [
            (0, 0, nil), (0, 1, nil), (1, 2, nil), (7, 7, PasskeyRefusalReason.counterRegressed), (7, 6, .counterRegressed),
            (7, 0, .counterRegressed), (UInt32.max, 0, .counterRegressed), (UInt32.max - 1, UInt32.max, nil),
        ] as [(UInt32, UInt32, PasskeyRefusalReason?)]) func countersGrow(
            _ stored: UInt32, _ new: UInt32, _ expected: PasskeyRefusalReason?
        )
    {
        #expect(reason { () throws(PasskeyRefusal) in try CeremonyExpectation.checkCounter(new, after: stored) } == expected)
    }

    @Test func eligibilityForBackupNeverChanges() throws {
        let stored = try vector.stored()
        let other = StoredCredential(key: stored.key, counter: 0, backupEligible: !stored.backupEligible)
        #expect(
            reason { () throws(PasskeyRefusal) in try vector.expectation("a").verify(vector.assertion, of: other) }
                == .backupEligibilityChanged)
    }

    @Test func aRegistrationIsNoAssertion() throws {
        let stored = try vector.stored()
        let crossed = AssertionResponse(
            clientData: vector.registration.clientData, authenticatorData: vector.assertion.authenticatorData,
            signature: vector.assertion.signature)
        #expect(reason { () throws(PasskeyRefusal) in try vector.expectation("r").verify(crossed, of: stored) } == .wrongType)
    }
}
