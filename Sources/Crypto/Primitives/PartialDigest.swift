import COpenSSL

/// The digest state after the common beginning of several messages.
final class PartialDigest: @unchecked Sendable {
    /// Only copied after `init`.
    private let context: OpaquePointer

    init(_ algorithm: FetchedAlgorithm, of beginning: UnsafeRawBufferPointer) {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, algorithm.pointer, nil) == 1,
            EVP_DigestUpdate(context, beginning.baseAddress, beginning.count) == 1
        else { cannotContinue("compute a digest") }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Writes the digest of the message that continues with `rest` to the beginning of `output`.
    func finish(with rest: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        let copy = ThreadContexts.current.digest
        let done =
            EVP_MD_CTX_copy_ex(copy, context) == 1 && EVP_DigestUpdate(copy, rest.baseAddress, rest.count) == 1
            && EVP_DigestFinal_ex(copy, output.bindMemory(to: UInt8.self).baseAddress, nil) == 1
        if !done { cannotContinue("compute a digest") }
    }
}
