import COpenSSL

/// An algorithm fetched from an OpenSSL provider: immutable and shared by all threads.
///
/// Fetching takes as long as hashing a short message, so each algorithm is fetched once, on first use.
struct FetchedAlgorithm: @unchecked Sendable {
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer?, _ name: String) {
        guard let pointer else { cannotContinue("find \(name)") }
        self.pointer = pointer
    }

    static let sha256 = digest("SHA2-256")
    static let sha384 = digest("SHA2-384")
    static let sha1 = digest("SHA1")
    static let md5 = digest("MD5")
    static let sha512 = digest("SHA2-512")
    static let aes256GCM = FetchedAlgorithm(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "AES-256-GCM")
    static let aes256CTR = FetchedAlgorithm(EVP_CIPHER_fetch(nil, "AES-256-CTR", nil), "AES-256-CTR")
    static let hmac = FetchedAlgorithm(EVP_MAC_fetch(nil, "HMAC", nil), "HMAC")
    static let hkdf = FetchedAlgorithm(EVP_KDF_fetch(nil, "HKDF", nil), "HKDF")

    private static func digest(_ name: String) -> FetchedAlgorithm {
        FetchedAlgorithm(EVP_MD_fetch(nil, name, nil), name)
    }
}
