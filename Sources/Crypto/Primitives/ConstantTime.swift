import COpenSSL

/// Compares bytes in constant time, so that the duration does not reveal the position of a difference. Only the lengths are not protected.
public func constantTimeEquals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

/// Compares the UTF-8 bytes of two texts in constant time.
public func constantTimeEquals(_ a: String, _ b: String) -> Bool {
    constantTimeEquals(Array(a.utf8), Array(b.utf8))
}
