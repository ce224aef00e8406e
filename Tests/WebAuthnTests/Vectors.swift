import Foundation
import JSON
import Platform
import Testing

@testable import WebAuthn

/// A pair of ceremonies of W3C Web Authentication Level 3, section 16.
struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    private let members: [String: String]

    var testDescription: String { name }

    func bytes(_ member: String) -> [UInt8] { Hex.decode(members[member]!)! }

    static let all: [Vector] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "l3-vectors.json")
        let root = try! JSONText([UInt8](Data(contentsOf: file))).root
        var vectors: [Vector] = []
        root.forEachMember { name, members in
            var texts: [String: String] = [:]
            members.forEachMember { texts[$0] = $1.string }
            vectors.append(Vector(name: name, members: texts))
        }
        return vectors
    }()

    /// The pairs with algorithms that are supported.
    static let supported = all.filter { !["packed-es512", "packed-ed448"].contains($0.name) }

    static func named(_ name: String) -> Vector { all.first { $0.name == name }! }

    var registration: RegistrationResponse {
        RegistrationResponse(
            rawID: bytes("r.credential_id"), clientData: bytes("r.clientDataJSON"), attestationObject: bytes("r.attestationObject"))
    }

    var assertion: AssertionResponse {
        AssertionResponse(
            clientData: bytes("a.clientDataJSON"), authenticatorData: bytes("a.authenticatorData"), signature: bytes("a.signature"))
    }

    static let relyingParty = RelyingParty(id: "example.org", origins: ["https://example.org"], topOrigins: ["*"])

    func expectation(_ ceremony: String, _ relyingParty: RelyingParty = relyingParty, requiresUser: Bool = false) -> CeremonyExpectation {
        CeremonyExpectation(
            challenge: Base64URL.encode(bytes("\(ceremony).challenge")), relyingParty: relyingParty, requiresUserVerification: requiresUser)
    }

    /// Verifies the registration, changed by `change`.
    func register(
        _ relyingParty: RelyingParty = relyingParty, trust: AttestationTrust = .anyone, response: RegistrationResponse? = nil,
        requiresUser: Bool = false
    ) throws(PasskeyRefusal) -> RegisteredCredential {
        try Registration(
            expectation("r", relyingParty, requiresUser: requiresUser), algorithms: CredentialKey.Algorithm.allCases, trust: trust
        ).verify(response ?? registration, at: 1_767_225_600)
    }

    /// The passkey as a store keeps it.
    func stored() throws(PasskeyRefusal) -> StoredCredential {
        let registered = try register()
        return StoredCredential(
            key: try CredentialKey(cose: registered.publicKey, wasChecked: true), counter: registered.counter,
            backupEligible: registered.backupEligible)
    }
}

/// Returns the reason of the refusal; `nil` if nothing was refused.
func reason(_ body: () throws(PasskeyRefusal) -> some Any) -> PasskeyRefusalReason? {
    do {
        _ = try body()
        return nil
    } catch { return error.reason }
}

extension [UInt8] {
    /// Returns the bytes with one occurrence of a text replaced.
    func replacing(_ old: String, _ new: String) -> [UInt8] {
        Array(String(decoding: self, as: UTF8.self).replacingOccurrences(of: old, with: new).utf8)
    }

    /// Returns the bytes with one bit changed.
    func flipping(bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}
