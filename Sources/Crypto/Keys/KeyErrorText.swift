/// What is wrong with a key, as a half sentence.
extension KeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformedMember(let name): "its member \(name) is missing or is not what RFC 7517 says"
        case .unsupportedType(let type): "its kty is \(Self.shown(type)); EC, RSA and OKP are accepted"
        case .unsupportedCurve(let curve): "its crv is \(Self.shown(curve)); P-256, P-384, P-521 and Ed25519 are accepted"
        case .unsupportedAlgorithm(let name): "its alg is \(Self.shown(name)), which is not verified here"
        case .algorithmMismatch(let algorithm): "it is no key for \(algorithm.rawValue)"
        case .notForSignatures: "its use or key_ops says that it is not for signatures"
        case .privateKeyPublished: "it is a private key. Give the public part alone; whoever has seen this one can sign with it"
        case .invalidPublicKey: "it is not a point of its curve, or not the number of a public key"
        case .unacceptableModulus(let bits): "it has \(bits) bits; RSA keys of 2048 to 8192 bits are accepted"
        case .unacceptableExponent: "its exponent is even, too small or too long"
        case .inconsistent: "its private part does not belong to its public part"
        case .tooMany: "there are too many keys before it"
        case .malformedEncoding: "it is not the DER encoding of a key of a kind that is used here"
        }
    }

    /// Foreign text as it may stand in a message: printable, and not long.
    private static func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }.prefix(40)))
    }
}
