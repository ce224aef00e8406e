/// The authenticator data (WebAuthn Level 3 section 6.1).
struct AuthenticatorData {
    /// The bits of the flags byte. Bits 1 and 5 are reserved and ignored.
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let userPresent = Flags(rawValue: 1 << 0)
        static let userVerified = Flags(rawValue: 1 << 2)
        static let backupEligible = Flags(rawValue: 1 << 3)
        static let backedUp = Flags(rawValue: 1 << 4)
        static let attestedCredential = Flags(rawValue: 1 << 6)
        static let extensions = Flags(rawValue: 1 << 7)
    }

    /// The new credential of a registration (section 6.5.1).
    struct AttestedCredential {
        let aaguid: [UInt8]
        let credentialID: [UInt8]
        let publicKey: [UInt8]
    }

    /// All bytes, which the authenticator signed.
    let bytes: [UInt8]
    let relyingPartyHash: [UInt8]
    let flags: Flags
    let counter: UInt32
    let attested: AttestedCredential?

    /// Parses the data of a registration, which has an attested credential, or of an authentication, which has none.
    init(_ bytes: [UInt8], ceremony: ClientData.Ceremony) throws(PasskeyRefusal) {
        guard bytes.count >= 37 else {
            throw .authenticatorData("The authenticator data has \(bytes.count) bytes; at least 37 are needed.")
        }
        self.bytes = bytes
        relyingPartyHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var rest = bytes[37...]
        guard flags.contains(.attestedCredential) == (ceremony == .create) else {
            throw .authenticatorData(
                ceremony == .create
                    ? "The authenticator data has no new credential." : "The authenticator data of a sign-in has a new credential.")
        }
        attested = ceremony == .create ? try Self.readCredential(from: &rest) : nil
        if flags.contains(.extensions) {
            guard CBOR.read(from: &rest)?.map != nil else { throw .authenticatorData("The extension data is not a CBOR map.") }
        }
        guard rest.isEmpty else { throw .authenticatorData("\(rest.count) bytes follow the authenticator data.") }
    }

    private static func readCredential(from rest: inout ArraySlice<UInt8>) throws(PasskeyRefusal) -> AttestedCredential {
        guard rest.count >= 18 else { throw .authenticatorData("The new credential is incomplete.") }
        let aaguid = Array(rest.prefix(16))
        let count = rest.dropFirst(16).prefix(2).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(18)
        guard rest.count >= count else { throw .authenticatorData("The credential ID is incomplete.") }
        let credentialID = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        let start = rest
        guard CBOR.read(from: &rest)?.map != nil else { throw .authenticatorData("The public key is not a CBOR map.") }
        return AttestedCredential(aaguid: aaguid, credentialID: credentialID, publicKey: Array(start[..<rest.startIndex]))
    }
}

extension PasskeyRefusal {
    fileprivate static func authenticatorData(_ detail: String) -> PasskeyRefusal { PasskeyRefusal(.authenticatorDataInvalid, detail) }
}
