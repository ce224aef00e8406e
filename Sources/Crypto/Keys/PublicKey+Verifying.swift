import COpenSSL

extension PublicKey {
    /// Returns whether the signature is valid for exactly this message. A signature of the wrong length is not valid.
    public func verify(_ signature: some Collection<UInt8>, of message: some Collection<UInt8>) -> Bool {
        signature.withBytes { signature in message.withBytes { verify(signature, of: $0) } }
    }

    func verify(_ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        guard let digest = algorithm.digest else { return verifyWhole(signature, of: message) }
        let thread = ThreadContexts.current
        var signature = signature
        if let curve = algorithm.curve {
            guard signature.count == 2 * curve.coordinateCount else { return false }
            signature = ECDSASignature.join(signature, in: thread.signatureSpace)
        }
        Hash.write(digest.algorithm, of: message, to: thread.digestSpace)
        let context = thread.verifying.context(for: handle.serial) { makeContext(in: thread.library) }
        if EVP_PKEY_verify(context, signature.bytes, signature.count, thread.digestSpace.bytes, digest.count) == 1 { return true }
        ERR_clear_error()
        return false
    }

    private func makeContext(in library: OpaquePointer?) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_pkey(library, handle.pointer, nil), EVP_PKEY_verify_init(context) == 1,
            algorithm.configure(context)
        else { cannotContinue("verify") }
        return context
    }

    private func verifyWhole(_ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        guard let context = EVP_MD_CTX_new() else { cannotContinue("verify") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, handle.pointer) == 1 else { cannotContinue("verify") }
        if EVP_DigestVerify(context, signature.bytes, signature.count, message.bytes, message.count) == 1 { return true }
        ERR_clear_error()
        return false
    }
}
