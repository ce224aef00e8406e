import Crypto

/// The format `tpm` (WebAuthn Level 3 section 8.3; TPM 2.0 Library, part 2).
enum TPMStatement {
    static func verify(_ statement: [CBOR.Key: CBOR], _ signed: AttestedData) throws(PasskeyRefusal) -> [Certificate] {
        guard statement["ver"]?.text == "2.0" else { throw .attestation("The version of the TPM is not 2.0.") }
        guard let certificates = try statement.certificates(), let area = statement["pubArea"]?.bytes,
            let info = statement["certInfo"]?.bytes
        else { throw .attestation("The statement lacks x5c, pubArea or certInfo.") }
        guard let described = PublicArea(area), described.material == signed.key.material else {
            throw .attestation("The TPM describes another key than the passkey.")
        }
        let algorithm = try statement.algorithm()
        guard let attested = AttestedName(info), attested.extraData == algorithm.digest(signed.message),
            let name = described.name(of: area),
            attested.name == name
        else { throw .attestation("The TPM did not certify this key for this registration.") }
        guard certificates[0].verify(try statement.signature(), of: info, algorithm) else {
            throw .attestation("The statement is not signed with the key of its first certificate.")
        }
        try check(certificates[0])
        try certificates[0].checkAAGUID(signed.credential.aaguid)
        return certificates
    }

    /// Checks the certificate of an attestation key (section 8.3.1).
    private static func check(_ certificate: Certificate) throws(PasskeyRefusal) {
        guard certificate.version == 3, certificate.hasEmptySubject, certificate.extension("2.5.29.19") != nil, !certificate.isAuthority
        else {
            throw .attestation("The certificate is not version 3 with an empty subject and without the right to sign certificates.")
        }
        let names = certificate.extension("2.5.29.17").flatMap { ASN1($0.value) }.map { identifiers(in: $0, depth: 0) } ?? []
        guard ["2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"].allSatisfy(names.contains) else {
            throw .attestation("The certificate does not name manufacturer, model and version of the TPM.")
        }
        let purposes = certificate.extension("2.5.29.37").flatMap { ASN1($0.value)?.elements }?.compactMap(\.objectIdentifier) ?? []
        guard purposes.contains("2.23.133.8.3") else { throw .attestation("The certificate is not for attestation keys.") }
    }

    /// Returns the object identifiers in the directory names of a subject alternative name.
    private static func identifiers(in element: ASN1, depth: Int) -> [String] {
        if let identifier = element.objectIdentifier { return [identifier] }
        switch element.tag {
        case .sequence, .set, .context(4):
            guard depth < 8, let elements = element.elements else { return [] }
            return elements.flatMap { identifiers(in: $0, depth: depth + 1) }
        default: return []
        }
    }
}

/// Reads the big-endian structures of a TPM.
private struct TPMReader {
    var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func number(_ width: Int) -> Int? { take(width).map { $0.reduce(0) { $0 << 8 | Int($1) } } }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// A field with its length in two bytes.
    mutating func field() -> [UInt8]? { number(2).flatMap { take($0) }.map(Array.init) }

    /// Skips an algorithm and, unless it is `TPM_ALG_NULL`, the parameters that follow it.
    mutating func skipAlgorithm(parameters width: Int) -> Bool {
        guard let algorithm = number(2) else { return false }
        return algorithm == 0x0010 || take(width) != nil
    }
}

/// A public area (`TPMT_PUBLIC`).
private struct PublicArea {
    let nameAlgorithm: Int
    let material: JWK.Material

    init?(_ bytes: [UInt8]) {
        var reader = TPMReader(bytes)
        guard let type = reader.number(2), let nameAlgorithm = reader.number(2), reader.take(4) != nil, reader.field() != nil,
            reader.skipAlgorithm(parameters: 4), reader.skipAlgorithm(parameters: 2)
        else { return nil }
        self.nameAlgorithm = nameAlgorithm
        switch type {
        case 0x0001:
            guard reader.number(2) != nil, let exponent = reader.number(4), let modulus = reader.field() else { return nil }
            material = .rsa(n: modulus, e: Self.bytes(of: exponent == 0 ? 65537 : exponent))
        case 0x0023:
            guard let number = reader.number(2), let curve = [3: Curve.p256, 4: .p384, 5: .p521][number],
                reader.skipAlgorithm(parameters: 2), let x = reader.field(), let y = reader.field(),
                max(x.count, y.count) <= curve.coordinateCount
            else { return nil }
            let padding = { (short: [UInt8]) in [UInt8](repeating: 0, count: curve.coordinateCount - short.count) + short }
            material = .ec(curve, x: padding(x), y: padding(y))
        default: return nil
        }
        guard reader.rest.isEmpty else { return nil }
    }

    /// The name of the key: the number of the digest algorithm and the digest of the area.
    func name(of area: [UInt8]) -> [UInt8]? {
        let digest: [UInt8]
        switch nameAlgorithm {
        case 0x000B: digest = Hash.sha256(area)
        case 0x000C: digest = Hash.sha384(area)
        case 0x000D: digest = Hash.sha512(area)
        default: return nil
        }
        return [UInt8(nameAlgorithm >> 8), UInt8(nameAlgorithm & 0xFF)] + digest
    }

    private static func bytes(of number: Int) -> [UInt8] {
        Array([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }.drop { $0 == 0 })
    }
}

/// The statement that the TPM signed (`TPMS_ATTEST` of the type certify).
private struct AttestedName {
    let extraData: [UInt8]
    let name: [UInt8]

    init?(_ bytes: [UInt8]) {
        var reader = TPMReader(bytes)
        // Magic and type, the qualified signer, the extra data; then the clock (17 bytes) and the firmware version (8 bytes).
        guard reader.number(4) == 0xFF54_4347, reader.number(2) == 0x8017, reader.field() != nil, let extraData = reader.field(),
            reader.take(25) != nil, let name = reader.field(), reader.field() != nil, reader.rest.isEmpty
        else { return nil }
        self.extraData = extraData
        self.name = name
    }
}
