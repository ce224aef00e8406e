import Platform

extension JWS {
    /// Signs a payload and appends the compact form to `output`.
    ///
    /// - Parameters:
    ///   - payload: the payload's bytes, usually JSON.
    ///   - type: `typ`, which tells kinds of tokens apart (RFC 8725 section 3.11).
    ///   - keyID: the `kid` a foreign verifier knows the key by; the key's thumbprint if nil.
    /// - Throws: `CryptoFailure`; `output` is then as it was.
    public static func append(
        signing payload: [UInt8], with key: PrivateKey, type: String, keyID: String? = nil, to output: inout [UInt8]
    ) throws(CryptoFailure) {
        let header = key.headers.encoded(algorithm: key.algorithm, keyID: keyID ?? key.keyID, type: type)
        let start = output.count
        let signatureCount = key.signatureCount
        output.reserveCapacity(
            start + header.count + Base64URL.encodedCount(payload.count) + 1 + Base64URL.encodedCount(signatureCount))
        output.append(contentsOf: header)
        payload.withUnsafeBufferPointer { Base64URL.append($0, to: &output) }
        let signature = ThreadContexts.current.outputSpace(signatureCount)
        let signed = output.withUnsafeBytes { bytes in
            let input = UnsafeRawBufferPointer(rebasing: bytes[start...])
            return Result { () throws(CryptoFailure) in try key.sign(input, into: signature) }
        }
        guard case .success = signed else {
            output.removeSubrange(start...)
            return try signed.get()
        }
        output.append(UInt8(ascii: "."))
        Base64URL.append(UnsafeBufferPointer(signature.bindMemory(to: UInt8.self)), to: &output)
    }

    /// Signs a payload; see `append(signing:with:type:keyID:to:)`. Answers the compact form.
    public static func sign(
        payload: [UInt8], with key: PrivateKey, type: String, keyID: String? = nil
    ) throws(CryptoFailure) -> String {
        var compact: [UInt8] = []
        try append(signing: payload, with: key, type: type, keyID: keyID, to: &compact)
        return String(decoding: compact, as: UTF8.self)
    }
}
