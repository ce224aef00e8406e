import COpenSSL

extension PrivateKey {
    /// The length of a signature in JOSE's form, in bytes.
    public var signatureCount: Int {
        switch jwk.material {
        case .ec(let curve, _, _): 2 * curve.coordinateCount
        case .rsa(let n, _): n.count
        case .ed25519: 64
        }
    }

    /// Signs a message. An ECDSA signature is R‖S (RFC 7518 section 3.4).
    ///
    /// - Throws: `CryptoFailure` if OpenSSL fails, which does not depend on the message.
    public func sign(_ message: some Collection<UInt8>) throws(CryptoFailure) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: signatureCount)
        let result = signature.withUnsafeMutableBytes { signature in
            message.withBytes { message in
                Result { () throws(CryptoFailure) in try sign(message, into: signature) }
            }
        }
        try result.get()
        return signature
    }

    /// Signs `message` into a buffer of exactly `signatureCount` bytes.
    func sign(_ message: UnsafeRawBufferPointer, into signature: UnsafeMutableRawBufferPointer) throws(CryptoFailure) {
        guard let digest = algorithm.signature.digest else { return try signWhole(message, into: signature) }
        let thread = ThreadContexts.current
        Hash.write(digest.algorithm, of: message, to: thread.digestSpace)
        try signDigest(digest.count, on: thread, into: signature)
    }

    /// Signs a message whose first `count` bytes are already hashed in `beginning`.
    func sign(
        _ message: UnsafeRawBufferPointer, after beginning: PartialDigest?, of count: Int, into signature: UnsafeMutableRawBufferPointer
    ) throws(CryptoFailure) {
        guard let beginning, let digest = algorithm.signature.digest else { return try sign(message, into: signature) }
        let thread = ThreadContexts.current
        beginning.finish(with: UnsafeRawBufferPointer(rebasing: message[count...]), to: thread.digestSpace)
        try signDigest(digest.count, on: thread, into: signature)
    }

    /// Signs the digest in the thread's digest buffer.
    private func signDigest(_ digestCount: Int, on thread: ThreadContexts, into signature: UnsafeMutableRawBufferPointer)
        throws(CryptoFailure)
    {
        if let repeatable {
            return try repeatable.sign(UnsafeRawBufferPointer(rebasing: thread.digestSpace[..<digestCount]), into: signature)
        }
        let context = try thread.signing.context(for: handle.serial) { () throws(CryptoFailure) in try makeContext(in: thread.library) }
        let isRSA = algorithm.signature.padding != nil
        let output = isRSA ? signature : thread.signatureSpace
        var count = output.count
        let done =
            EVP_PKEY_sign(context, output.bytes, &count, thread.digestSpace.bytes, digestCount) == 1
            && (isRSA
                ? count == signature.count : ECDSASignature.split(UnsafeRawBufferPointer(rebasing: output[..<count]), into: signature))
        guard done else {
            thread.signing.remove(handle.serial)
            throw CryptoFailure("sign")
        }
    }

    private func makeContext(in library: OpaquePointer?) throws(CryptoFailure) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_pkey(library, handle.pointer, nil) else { throw CryptoFailure("sign") }
        guard EVP_PKEY_sign_init(context) == 1, algorithm.signature.configure(context) else {
            EVP_PKEY_CTX_free(context)
            throw CryptoFailure("sign")
        }
        return context
    }

    /// Signs with Ed25519, which hashes the message twice itself.
    private func signWhole(_ message: UnsafeRawBufferPointer, into signature: UnsafeMutableRawBufferPointer) throws(CryptoFailure) {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, nil, nil, handle.pointer) == 1,
            EVP_DigestSign(context, signature.bytes, &count, message.bytes, message.count) == 1, count == signature.count
        else { throw CryptoFailure("sign") }
    }
}

extension SignatureAlgorithm {
    /// Sets the padding and digest of RSA signatures in a new context. ECDSA needs neither.
    func configure(_ context: OpaquePointer) -> Bool {
        guard let padding, let digest else { return true }
        switch padding {
        case .pkcs1:
            return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.algorithm.pointer) == 1
        case .pss:
            // RFC 7518 section 3.5: MGF1 with the same digest, and a salt as long as the digest.
            return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.algorithm.pointer) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.algorithm.pointer) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
        }
    }
}
