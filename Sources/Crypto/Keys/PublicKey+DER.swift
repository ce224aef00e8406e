import COpenSSL

extension PublicKey {
    /// Returns whether the signature is valid for exactly this message, with ECDSA signatures in strict DER (RFC 3279 section 2.2.3) as
    /// X.509 and WebAuthn have them. Signatures of other keys are the same in both forms.
    ///
    /// For many keys that are each used now and then: the thread keeps nothing for them.
    public func verify(der signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let curve = algorithm.curve else {
            return signature.withUnsafeBytes { signature in message.withUnsafeBytes { verifyWithOwnContext(signature, of: $0) } }
        }
        let joined = signature.withUnsafeBytes { der -> [UInt8]? in
            var file = DERReader(der)
            guard var pair = file.enter(.sequence), file.isAtEnd, pair.readUnsigned() != nil, pair.readUnsigned() != nil, pair.isAtEnd
            else {
                return nil
            }
            var joined = [UInt8](repeating: 0, count: 2 * curve.coordinateCount)
            return joined.withUnsafeMutableBytes { ECDSASignature.split(der, into: $0) } ? joined : nil
        }
        guard let joined else { return false }
        return joined.withUnsafeBytes { signature in message.withUnsafeBytes { verifyWithOwnContext(signature, of: $0) } }
    }
}
