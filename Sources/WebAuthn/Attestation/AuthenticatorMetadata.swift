import Crypto
import JSON
import Platform

/// The models of authenticators in a file of the FIDO Metadata Service (version 3, section 3.1).
public struct AuthenticatorMetadata: Sendable {
    /// A model of authenticator.
    struct Entry: Sendable {
        let name: String
        let roots: [Certificate]
        let hasHardwareProtection: Bool
        /// The newest status, if it makes the model untrustworthy.
        let compromisingStatus: String?
    }

    /// The reason a file was refused.
    public struct Unreadable: Error, Sendable {
        /// A sentence.
        public let detail: String
    }

    /// The day on which a newer file was announced, as `2026-12-01`.
    public let nextUpdate: String?
    private var byAAGUID: [[UInt8]: Entry] = [:]
    private var byKeyIdentifier: [[UInt8]: Entry] = [:]

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - blob: The JWT as it was downloaded.
    ///   - roots: The PEM certificates to which the signer of the file must lead; `nil` to trust the file as it is.
    ///   - time: The time in seconds since 1970 at which the signer's certificates must be valid.
    public init(blob: [UInt8], roots: String?, at time: Int) throws(Unreadable) {
        let parts = blob.split(whereSeparator: { $0 == UInt8(ascii: ".") || $0 <= 0x20 }).map(Array.init)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ try? JSONText($0) })?.root,
            let payload = Base64URL.decode(parts[1]).flatMap({ try? JSONText($0) })?.root, payload["entries"]?.kind == .array
        else { throw Unreadable(detail: "The file is not a JWT with the entries of a metadata service.") }
        if let roots { try Self.checkSigner(header, signed: parts[0] + [UInt8(ascii: ".")] + parts[1], signature: parts[2], roots, time) }
        nextUpdate = payload["nextUpdate"]?.string
        payload["entries"]?.forEachElement { _, element in
            guard let entry = Entry(element) else { return }
            if let aaguid = element["aaguid"]?.string.flatMap({ Hex.decode($0.replacing("-", with: "").lowercased()) }) {
                byAAGUID[aaguid] = entry
            }
            element["attestationCertificateKeyIdentifiers"]?.forEachElement { _, identifier in
                if let bytes = identifier.string.flatMap({ Hex.decode($0.lowercased()) }) { byKeyIdentifier[bytes] = entry }
            }
        }
    }

    func entry(aaguid: [UInt8]) -> Entry? { byAAGUID[aaguid] }

    func entry(keyIdentifier: [UInt8]) -> Entry? { byKeyIdentifier[keyIdentifier] }

    /// Returns the DER certificates in PEM text.
    static func certificates(pem: String) -> [Certificate]? {
        var found: [Certificate] = []
        for block in pem.pieces(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst() {
            guard let certificate = Certificate(base64: String(block.prefix { $0 != "-" })) else { return nil }
            found.append(certificate)
        }
        return found.isEmpty ? nil : found
    }

    private static func checkSigner(
        _ header: JSONNode, signed: [UInt8], signature: [UInt8], _ roots: String, _ time: Int
    ) throws(Unreadable) {
        guard let roots = certificates(pem: roots) else { throw Unreadable(detail: "The root file has no PEM certificates.") }
        var chain: [Certificate] = []
        header["x5c"]?.forEachElement { _, element in
            if let certificate = element.string.flatMap(Certificate.init(base64:)) { chain.append(certificate) }
        }
        guard let signer = chain.first, chain.count <= 8, let algorithm = header["alg"]?.string.flatMap(SignatureAlgorithm.init(name:))
        else {
            throw Unreadable(detail: "The header of the file names no supported algorithm and certificates.")
        }
        guard let signature = Base64URL.decode(signature), let key = signer.publicKey(algorithm), key.algorithm == algorithm,
            key.verify(signature, of: signed)
        else { throw Unreadable(detail: "The signature of the file is not valid.") }
        guard signer.chains(to: roots, through: Array(chain.dropFirst()), at: time) else {
            throw Unreadable(detail: "The certificate that signed the file does not lead to a certificate in the root file.")
        }
    }
}

extension AuthenticatorMetadata.Entry {
    /// The states after which attestations of a model prove nothing (FIDO Metadata Service section 3.1.4).
    private static let compromising: Set<String> = [
        "REVOKED", "USER_VERIFICATION_BYPASS", "ATTESTATION_KEY_COMPROMISE", "USER_KEY_REMOTE_COMPROMISE", "USER_KEY_PHYSICAL_COMPROMISE",
    ]

    init?(_ node: JSONNode) {
        guard let statement = node["metadataStatement"] else { return nil }
        name = statement["description"]?.string ?? ""
        var roots: [Certificate] = []
        statement["attestationRootCertificates"]?.forEachElement { _, element in
            if let certificate = element.string.flatMap(Certificate.init(base64:)) { roots.append(certificate) }
        }
        self.roots = roots
        var isProtected = false
        statement["keyProtection"]?.forEachElement { _, element in
            if let word = element.string, ["hardware", "secure_element", "tee"].contains(word) { isProtected = true }
        }
        hasHardwareProtection = isProtected
        var newest: (date: String, status: String)?
        node["statusReports"]?.forEachElement { _, report in
            guard let status = report["status"]?.string else { return }
            let date = report["effectiveDate"]?.string ?? newest?.date ?? ""
            if newest.map({ $0.date <= date }) ?? true { newest = (date, status) }
        }
        compromisingStatus = newest.map(\.status).flatMap { Self.compromising.contains($0) ? $0 : nil }
    }
}

extension Certificate {
    /// Parses base64 with line breaks.
    convenience init?(base64: String) {
        guard let der = Base64.decode(String(base64.filter { !$0.isWhitespace })) else { return nil }
        self.init(der: der)
    }
}
