import COpenSSL

extension PublicKey {
    /// Returns whether the signature is valid for exactly this message. A signature of the wrong length is not valid.
    public func verify(_ signature: some Collection<UInt8>, of message: some Collection<UInt8>) -> Bool {
        signature.withBytes { signature in message.withBytes { verify(signature, of: $0) } }
    }

    func verify(_ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        verify(signature, of: message) { thread in
            thread.verifying.context(for: handle.serial) { makeContext(in: thread.library) }
        }
    }

    /// Verifies in the library context of the key: OpenSSL then needs no copy of the key for the context of the thread. The key, and not the
    /// thread, keeps the context, so that it lives as long as the key.
    func verifyWithOwnContext(_ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        var used: OpaquePointer?
        defer { if let used { handle.keep(used) } }
        return verify(signature, of: message) { _ in
            let context = handle.takeIdleContext() ?? makeContext(in: nil)
            used = context
            return context
        }
    }

    private func verify(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, in makeContext: (ThreadContexts) -> OpaquePointer
    ) -> Bool {
        guard let digest = algorithm.digest else { return verifyWhole(signature, of: message) }
        let thread = ThreadContexts.current
        var signature = signature
        if let curve = algorithm.curve {
            guard signature.count == 2 * curve.coordinateCount else { return false }
            signature = ECDSASignature.join(signature, in: thread.signatureSpace)
        }
        Hash.write(digest.algorithm, of: message, to: thread.digestSpace)
        let context = makeContext(thread)
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
