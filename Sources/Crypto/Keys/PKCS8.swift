/// The object identifiers of the supported signing keys, as DER content.
private enum ObjectIdentifier {
    /// id-ecPublicKey, 1.2.840.10045.2.1
    static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// prime256v1, 1.2.840.10045.3.1.7
    static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    /// secp384r1, 1.3.132.0.34
    static let p384: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x22]
    /// rsaEncryption, 1.2.840.113549.1.1.1
    static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    /// id-Ed25519, 1.3.101.112
    static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
}

/// PKCS #8 private keys (RFC 5958): SEQUENCE { version, SEQUENCE { kind, parameters }, OCTET STRING { the key } }.
///
/// OpenSSL's own decoder takes almost one millisecond for each key, and about the same again for its first use.
extension PrivateComponents {
    init(pkcs8: SecretBytes) throws(KeyError) {
        let read = pkcs8.withUnsafeBytes { bytes -> Result<PrivateComponents, KeyError>? in
            var file = DERReader(bytes)
            guard var outer = file.enter(.sequence), file.isAtEnd, let version = outer.readUnsigned(), version.count == 1,
                version[0] <= 1, var kind = outer.enter(.sequence), let identifier = kind.read(.objectIdentifier),
                let content = outer.read(.octetString)
            else { return nil }
            if identifier.elementsEqual(ObjectIdentifier.ecPublicKey) {
                guard let curve = kind.read(.objectIdentifier) else { return nil }
                let known: [(Curve, [UInt8])] = [(.p256, ObjectIdentifier.p256), (.p384, ObjectIdentifier.p384)]
                guard let found = known.first(where: { curve.elementsEqual($0.1) })?.0 else { return .failure(.unsupportedCurve("")) }
                return Self.ec(found, sec1: content).map { .success($0) }
            }
            if identifier.elementsEqual(ObjectIdentifier.rsa) { return Self.rsa(pkcs1: content).map { .success($0) } }
            if identifier.elementsEqual(ObjectIdentifier.ed25519) {
                var inner = DERReader(content)
                guard let seed = inner.read(.octetString), seed.count == 32, inner.isAtEnd else { return nil }
                return .success(.ed25519(seed: SecretBytes(copying: seed)))
            }
            return .failure(.unsupportedType(""))
        }
        guard let read else { throw .malformedEncoding }
        self = try read.get()
    }

    /// Parses an ECPrivateKey (RFC 5915 section 3).
    private static func ec(_ curve: Curve, sec1: UnsafeRawBufferPointer) -> PrivateComponents? {
        var file = DERReader(sec1)
        guard var key = file.enter(.sequence), file.isAtEnd, let version = key.readUnsigned(), version.elementsEqual([1]),
            let d = key.read(.octetString), d.count == curve.coordinateCount
        else { return nil }
        _ = key.read(.context0)
        guard var tagged = key.enter(.context1) else {
            return key.isAtEnd ? .ec(curve, d: SecretBytes(copying: d), point: nil) : nil
        }
        // The first byte of a bit string is the number of unused bits in its last byte.
        guard key.isAtEnd, let bits = tagged.read(.bitString), bits.first == 0, tagged.isAtEnd else { return nil }
        return .ec(curve, d: SecretBytes(copying: d), point: Array(bits.dropFirst()))
    }

    /// Parses an RSAPrivateKey (RFC 8017 appendix A.1.2).
    private static func rsa(pkcs1: UnsafeRawBufferPointer) -> PrivateComponents? {
        var file = DERReader(pkcs1)
        guard var key = file.enter(.sequence), file.isAtEnd, let version = key.readUnsigned(), version.elementsEqual([0])
        else { return nil }
        var values: [RSAComponents.Name: SecretBytes] = [:]
        for name in RSAComponents.Name.allCases {
            guard let value = key.readUnsigned() else { return nil }
            values[name] = SecretBytes(copying: value)
        }
        return key.isAtEnd ? .rsa(RSAComponents { values[$0]! }) : nil
    }

    func pkcs8() -> SecretBytes {
        // The numbers of the longest RSA key take 4.6 KB.
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 6144, alignment: 16)
        defer {
            scratch.wipe()
            scratch.deallocate()
        }
        var writer = DERWriter(scratch)
        writer.wrap(.sequence) { writer in
            writer.wrap(.octetString) { prependContent(to: &$0) }
            writer.wrap(.sequence) { prependKind(to: &$0) }
            writer.wrap(.integer) { $0.prepend(0) }
        }
        return SecretBytes(copying: writer.written)
    }

    private func prependKind(to writer: inout DERWriter) {
        switch self {
        case .ec(let curve, _, _):
            writer.wrap(.objectIdentifier) { $0.prepend(curve == .p256 ? ObjectIdentifier.p256 : ObjectIdentifier.p384) }
            writer.wrap(.objectIdentifier) { $0.prepend(ObjectIdentifier.ecPublicKey) }
        case .rsa:
            writer.wrap(.null) { _ in }
            writer.wrap(.objectIdentifier) { $0.prepend(ObjectIdentifier.rsa) }
        case .ed25519:
            writer.wrap(.objectIdentifier) { $0.prepend(ObjectIdentifier.ed25519) }
        }
    }

    private func prependContent(to writer: inout DERWriter) {
        switch self {
        case .ec(_, let d, let point):
            writer.wrap(.sequence) { writer in
                if let point {
                    writer.wrap(.context1) { writer in
                        writer.wrap(.bitString) { writer in
                            writer.prepend(point)
                            writer.prepend(0)
                        }
                    }
                }
                writer.wrap(.octetString) { writer in d.withUnsafeBytes { writer.prepend($0) } }
                writer.wrap(.integer) { $0.prepend(1) }
            }
        case .rsa(let components):
            writer.wrap(.sequence) { writer in
                for (_, value) in components.numbers.reversed() { value.withUnsafeBytes { writer.prependUnsigned($0) } }
                writer.wrap(.integer) { $0.prepend(0) }
            }
        case .ed25519(let seed):
            writer.wrap(.octetString) { writer in seed.withUnsafeBytes { writer.prepend($0) } }
        }
    }
}
