import COpenSSL

/// Compares without telling by its duration where the bytes differ. Only the lengths are not kept secret.
public func constantTimeEquals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

/// Compares the UTF-8 bytes of two texts without telling by its duration where they differ.
public func constantTimeEquals(_ a: String, _ b: String) -> Bool {
    constantTimeEquals(Array(a.utf8), Array(b.utf8))
}
