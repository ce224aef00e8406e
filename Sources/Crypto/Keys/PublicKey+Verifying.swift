import COpenSSL

extension PublicKey {
    /// Returns whether the signature is valid for exactly this message. A signature of the wrong length is not valid.
    public func verify(_ signature: some Collection<UInt8>, of message: some Collection<UInt8>) -> Bool {
        signature.withBytes { signature in message.withBytes { verify(signature, of: $0) } }
    }

    func verify(_ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        verifyBytes(signature, of: message, unlessKnown: nil)
    }

    /// Returns whether the signature is valid for exactly this message. With `known`, a valid signature is verified once.
    public func verify(
        _ signature: some Collection<UInt8>, of message: some Collection<UInt8>, unlessKnown known: ValidSignatures?
    ) -> Bool {
        signature.withBytes { signature in message.withBytes { verifyBytes(signature, of: $0, unlessKnown: known) } }
    }

    private func verifyBytes(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, unlessKnown known: ValidSignatures?
    ) -> Bool {
        verify(signature, of: message, unlessKnown: known) { thread in
            thread.verifying.context(for: handle.serial) { makeContext(in: thread.library) }
        }
    }

    /// Verifies in the library context of the key: OpenSSL then needs no copy of the key for the context of the thread. The key, and not the
    /// thread, keeps the context, so that it lives as long as the key.
    func verifyWithOwnContext(_ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        var used: OpaquePointer?
        defer { if let used { handle.keep(used) } }
        return verify(signature, of: message, unlessKnown: nil) { _ in
            let context = handle.takeIdleContext() ?? makeContext(in: nil)
            used = context
            return context
        }
    }

    private func verify(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, unlessKnown known: ValidSignatures?,
        in makeContext: (ThreadContexts) -> OpaquePointer
    ) -> Bool {
        guard let digest = algorithm.digest else { return verifyWhole(signature, of: message) }
        let thread = ThreadContexts.current
        if let curve = algorithm.curve, signature.count != 2 * curve.coordinateCount { return false }
        Hash.write(digest.algorithm, of: message, to: thread.digestSpace)
        let entry: ValidSignatures.Name? =
            known == nil ? nil : name(of: signature, digest: UnsafeRawBufferPointer(rebasing: thread.digestSpace[..<digest.count]))
        if let known, let entry, known.contains(entry) { return true }
        let encoded = algorithm.curve == nil ? signature : ECDSASignature.join(signature, in: thread.signatureSpace)
        let context = makeContext(thread)
        if EVP_PKEY_verify(context, encoded.bytes, encoded.count, thread.digestSpace.bytes, digest.count) == 1 {
            if let known, let entry { known.insert(entry) }
            return true
        }
        ERR_clear_error()
        return false
    }

    /// Returns the name of a signature among the valid ones. The serial number of the key is unique in the process. The algorithm determines
    /// the lengths of its name and of the digest, so each name stands for one sequence of these values.
    private func name(of signature: UnsafeRawBufferPointer, digest: UnsafeRawBufferPointer) -> ValidSignatures.Name {
        var name = ValidSignatures.Name.zero
        var key = (serial: handle.serial, algorithm: algorithm.number)
        withUnsafeMutableBytes(of: &name) { name in
            withUnsafeBytes(of: &key) { key in
                Hash.write(.sha256, of: [UnsafeRawBufferPointer(rebasing: key[..<9]), digest, signature], to: name)
            }
        }
        return name
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
