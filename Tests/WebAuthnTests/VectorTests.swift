import Crypto
import Testing

@testable import WebAuthn

/// The ceremonies that the standard prints (W3C Web Authentication Level 3, section 16).
@Suite struct VectorTests {
    @Test(arguments: Vector.supported) func ceremoniesAreAccepted(_ vector: Vector) throws {
        let registered = try vector.register()
        #expect(registered.credentialID == vector.bytes("r.credential_id"))
        #expect(registered.aaguid == vector.bytes("r.aaguid"))
        let accepted = try vector.expectation("a").verify(vector.assertion, of: vector.stored())
        #expect(accepted.counter == 0)
    }

    @Test func thereAreFifteenPairs() { #expect(Vector.all.count == 15) }

    @Test(arguments: ["packed-es512", "packed-ed448"]) func otherAlgorithmsAreRefused(_ name: String) {
        #expect(reason { () throws(PasskeyRefusal) in try Vector.named(name).register() } == .algorithmNotAllowed)
    }

    @Test(arguments: [
        ("none-es256", "none", Attestation.Trust.none), ("packed-self-es256", "packed", .selfSigned),
        ("packed-rs256", "packed", .unchecked),
        ("tpm-es256", "tpm", .unchecked), ("android-key-es256", "android-key", .unchecked), ("apple-es256", "apple", .unchecked),
        ("fido-u2f-es256", "fido-u2f", .unchecked),
    ]) func formatAndTrust(_ name: String, _ format: String, _ trust: Attestation.Trust) throws {
        let attestation = try Vector.named(name).register().attestation
        #expect(attestation.format == format)
        #expect(attestation.trust == trust)
    }

    @Test func framesNeedTopOrigins() throws {
        let none = RelyingParty(id: "example.org", origins: ["https://example.org"])
        let other = RelyingParty(id: "example.org", origins: ["https://example.org"], topOrigins: ["https://other.example"])
        let exact = RelyingParty(id: "example.org", origins: ["https://example.org"], topOrigins: ["https://example.com"])
        let framed = Vector.named("none-es256-topOrigin")
        #expect(reason { () throws(PasskeyRefusal) in try framed.register(none) } == .crossOriginNotAllowed)
        #expect(reason { () throws(PasskeyRefusal) in try framed.register(other) } == .topOriginNotAllowed)
        #expect(reason { () throws(PasskeyRefusal) in try framed.register(exact) } == nil)
        let unnamed = Vector.named("none-es256-crossOrigin")
        #expect(reason { () throws(PasskeyRefusal) in try unnamed.register(none) } == .crossOriginNotAllowed)
        #expect(reason { () throws(PasskeyRefusal) in try unnamed.register(exact) } == .crossOriginNotAllowed)
    }

    /// Each bit of what is signed, of the signature and of the challenge changes the answer.
    @Test(arguments: Vector.supported) func noBitOfAnAssertionCanBeChanged(_ vector: Vector) throws {
        let stored = try vector.stored()
        let good = vector.assertion
        for bit in 0..<(good.authenticatorData.count * 8) {
            let changed = AssertionResponse(
                clientData: good.clientData, authenticatorData: good.authenticatorData.flipping(bit: bit), signature: good.signature)
            #expect(reason { () throws(PasskeyRefusal) in try vector.expectation("a").verify(changed, of: stored) } != nil, "bit \(bit)")
        }
        for bit in 0..<(good.signature.count * 8) {
            let changed = AssertionResponse(
                clientData: good.clientData, authenticatorData: good.authenticatorData, signature: good.signature.flipping(bit: bit))
            #expect(reason { () throws(PasskeyRefusal) in try vector.expectation("a").verify(changed, of: stored) } == .signatureInvalid)
        }
        for bit in 0..<(good.clientData.count * 8) {
            let changed = AssertionResponse(
                clientData: good.clientData.flipping(bit: bit), authenticatorData: good.authenticatorData, signature: good.signature)
            #expect(reason { () throws(PasskeyRefusal) in try vector.expectation("a").verify(changed, of: stored) } != nil, "bit \(bit)")
        }
    }

    /// A statement signs the authenticator data and the client data, except in the format none.
    @Test(arguments: Vector.supported.filter { !$0.name.hasPrefix("none") }) func noBitOfARegistrationCanBeChanged(_ vector: Vector) throws
    {
        let good = vector.registration
        for bit in 0..<(good.clientData.count * 8) {
            let changed = RegistrationResponse(
                rawID: good.rawID, clientData: good.clientData.flipping(bit: bit), attestationObject: good.attestationObject)
            #expect(reason { () throws(PasskeyRefusal) in try vector.register(response: changed) } != nil, "bit \(bit)")
        }
    }

    @Test(arguments: Vector.supported) func truncatedAndPaddedObjectsAreRefused(_ vector: Vector) {
        let good = vector.registration
        for count in 0..<good.attestationObject.count {
            let cut = RegistrationResponse(
                rawID: good.rawID, clientData: good.clientData, attestationObject: Array(good.attestationObject[..<count]))
            #expect(reason { () throws(PasskeyRefusal) in try vector.register(response: cut) } == .cborInvalid)
        }
        let longer = RegistrationResponse(
            rawID: good.rawID, clientData: good.clientData, attestationObject: good.attestationObject + [0])
        #expect(reason { () throws(PasskeyRefusal) in try vector.register(response: longer) } == .cborInvalid)
    }
}
