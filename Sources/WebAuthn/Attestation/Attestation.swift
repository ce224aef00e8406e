import Crypto

/// The facts about the origin of a passkey.
public struct Attestation: Sendable, Equatable {
    /// The trust in the statement of the authenticator.
    public enum Trust: String, Sendable {
        /// The authenticator stated nothing.
        case none
        /// The statement is signed with the passkey's own key.
        case selfSigned = "self"
        /// The statement is signed with the key of a certificate that was not checked further.
        case unchecked
        /// The certificate leads to a root of the metadata.
        case verified
    }

    public let format: String
    public let trust: Trust
    /// The name of the model in the metadata.
    public let authenticatorName: String?
    /// Whether the metadata says that keys are protected by hardware.
    public let hasHardwareProtection: Bool
}

/// The data that an authenticator signed at a registration.
struct AttestedData {
    let authenticator: AuthenticatorData
    let credential: AuthenticatorData.AttestedCredential
    let key: CredentialKey
    let clientDataHash: [UInt8]

    /// The authenticator data followed by the hash of the client data.
    var message: [UInt8] { authenticator.bytes + clientDataHash }
}

/// An attestation statement whose signature was checked (WebAuthn Level 3 section 8).
struct Evidence {
    let format: String
    /// The certificates of the statement; the first one signed it. Empty without a certificate.
    let certificates: [Certificate]
    let isSelfSigned: Bool
    /// Whether origin and purpose of an Android key are enforced by hardware.
    let isHardwareEnforced: Bool

    init(format: String, statement: [CBOR.Key: CBOR], _ signed: AttestedData) throws(PasskeyRefusal) {
        self.format = format
        var certificates: [Certificate] = []
        var hardware = true
        switch format {
        case "none":
            guard statement.isEmpty else { throw .attestation("A statement of the format none must be empty.") }
        case "packed":
            certificates = try PackedStatement.verify(statement, signed)
        case "fido-u2f":
            certificates = try U2FStatement.verify(statement, signed)
        case "tpm":
            certificates = try TPMStatement.verify(statement, signed)
        case "android-key":
            (certificates, hardware) = try AndroidKeyStatement.verify(statement, signed)
        case "apple":
            certificates = try AppleStatement.verify(statement, signed)
        default:
            throw PasskeyRefusal(.attestationFormatUnknown, "The attestation format \(format.quoted) is not supported.")
        }
        self.certificates = certificates
        isSelfSigned = format == "packed" && certificates.isEmpty
        isHardwareEnforced = hardware
    }
}

extension [CBOR.Key: CBOR] {
    /// The certificates in `x5c`; `nil` if there is no such member.
    func certificates() throws(PasskeyRefusal) -> [Certificate]? {
        guard let member = self["x5c"] else { return nil }
        guard let elements = member.array, (1...8).contains(elements.count) else {
            throw .attestation("x5c must be a list of one to eight certificates.")
        }
        var certificates: [Certificate] = []
        for element in elements {
            guard let bytes = element.bytes, bytes.count <= 8192, let certificate = Certificate(der: bytes) else {
                throw .attestation("x5c has an element that is not a certificate of at most 8,192 bytes.")
            }
            certificates.append(certificate)
        }
        return certificates
    }

    func signature() throws(PasskeyRefusal) -> [UInt8] {
        guard let signature = self["sig"]?.bytes else { throw .attestation("The statement has no signature.") }
        return signature
    }

    func algorithm() throws(PasskeyRefusal) -> SignatureAlgorithm {
        guard let number = self["alg"]?.integer, let algorithm = SignatureAlgorithm(cose: number) else {
            throw .attestation("The statement has no supported algorithm.")
        }
        return algorithm
    }
}

extension SignatureAlgorithm {
    /// Creates an algorithm from its number in the COSE registry. Algorithms with SHA-1 are not supported.
    fileprivate init?(cose number: Int) {
        switch number {
        case -7: self = .ES256
        case -35: self = .ES384
        case -36: self = .ES512
        case -8: self = .EdDSA
        case -257: self = .RS256
        case -258: self = .RS384
        case -259: self = .RS512
        case -37: self = .PS256
        case -38: self = .PS384
        case -39: self = .PS512
        default: return nil
        }
    }

    /// Returns the digest that belongs to the algorithm.
    func digest(_ message: [UInt8]) -> [UInt8]? {
        switch self {
        case .ES256, .RS256, .PS256: Hash.sha256(message)
        case .ES384, .RS384, .PS384: Hash.sha384(message)
        case .ES512, .RS512, .PS512: Hash.sha512(message)
        case .EdDSA: nil
        }
    }
}

extension Certificate {
    /// Returns whether the key of the certificate signed the message with this algorithm.
    func verify(_ signature: [UInt8], of message: [UInt8], _ algorithm: SignatureAlgorithm) -> Bool {
        guard let key = publicKey(algorithm), key.algorithm == algorithm else { return false }
        return key.verify(der: signature, of: message)
    }

    /// Returns whether the certificate has exactly this key.
    func hasKey(_ key: CredentialKey) -> Bool { publicKey(key.algorithm.signature)?.jwk.material == key.material }

    func publicKey(_ algorithm: SignatureAlgorithm) -> PublicKey? {
        guard let info = subjectPublicKeyInfo else { return nil }
        return switch algorithm {
        case .ES256, .ES384, .ES512, .EdDSA: try? PublicKey(spki: info)
        default: try? PublicKey(spki: info, rsaAlgorithm: algorithm)
        }
    }

    /// Checks the extension that names the model of the authenticator, if the certificate has it (section 8.2.1).
    func checkAAGUID(_ aaguid: [UInt8]) throws(PasskeyRefusal) {
        guard let found = self.extension("1.3.6.1.4.1.45724.1.1.4") else { return }
        guard !found.isCritical, let inner = ASN1(found.value), inner.tag == .octetString, Array(inner.content) == aaguid else {
            throw .attestation("The certificate names another model of authenticator than the passkey, or its extension is critical.")
        }
    }
}

extension PasskeyRefusal {
    static func attestation(_ detail: String) -> PasskeyRefusal { PasskeyRefusal(.attestationInvalid, detail) }
}
