import COpenSSL

/// ECDSA with a nonce that is derived from the key and the message (RFC 6979, with HMAC-SHA-256 for all curves), so that a message always has
/// the same signature.
///
/// Only for seeded testing stores: the time it takes reveals information about the key.
struct RepeatableECDSA: Sendable {
    private let number: SecretBytes
    private let curve: Curve

    /// - Parameter number: The private number, as long as a coordinate of the curve.
    init(_ number: SecretBytes, on curve: Curve) {
        self.number = number
        self.curve = curve
    }

    /// Writes R‖S for a digest as long as a coordinate.
    func sign(_ digest: UnsafeRawBufferPointer, into signature: UnsafeMutableRawBufferPointer) throws(CryptoFailure) {
        guard let group = EC_GROUP_new_by_curve_name(curve.identifier), let point = EC_POINT_new(group),
            let order = EC_GROUP_get0_order(group)
        else { throw CryptoFailure("sign") }
        let numbers = BigNumbers()
        defer {
            EC_POINT_free(point)
            EC_GROUP_free(group)
        }
        let (h, d) = (numbers.number(Array(digest)), numbers.number(number.copy()))
        let (k, r, s) = (numbers.new(), numbers.new(), numbers.new())
        BN_nnmod(h, h, order, numbers.context)
        let count = curve.coordinateCount
        var nonces = Nonces(number.copy(), numbers.bytes(h, count: count))
        while true {
            BN_bin2bn(nonces.next(count), Int32(count), k)
            guard BN_is_zero(k) == 0, BN_cmp(k, order) < 0 else { continue }
            guard EC_POINT_mul(group, point, k, nil, nil, numbers.context) == 1,
                EC_POINT_get_affine_coordinates(group, point, r, nil, numbers.context) == 1
            else { throw CryptoFailure("sign") }
            // s = (h + r d) / k
            guard BN_nnmod(r, r, order, numbers.context) == 1, BN_mod_mul(s, r, d, order, numbers.context) == 1,
                BN_mod_add(s, s, h, order, numbers.context) == 1, BN_mod_inverse(k, k, order, numbers.context) != nil,
                BN_mod_mul(s, s, k, order, numbers.context) == 1
            else { throw CryptoFailure("sign") }
            if BN_is_zero(r) == 0, BN_is_zero(s) == 0 { break }
        }
        signature.copyBytes(from: numbers.bytes(r, count: count) + numbers.bytes(s, count: count))
    }

    /// Generates nonces (RFC 6979 section 3.2).
    private struct Nonces {
        private var k = [UInt8](repeating: 0, count: 32)
        private var v = [UInt8](repeating: 1, count: 32)
        private var isFirst = true

        init(_ number: [UInt8], _ digest: [UInt8]) {
            for mark: UInt8 in 0...1 {
                k = HMAC.sha256(key: k, v + [mark] + number + digest)
                v = HMAC.sha256(key: k, v)
            }
        }

        mutating func next(_ count: Int) -> [UInt8] {
            if !isFirst {
                k = HMAC.sha256(key: k, v + [0])
                v = HMAC.sha256(key: k, v)
            }
            isFirst = false
            var nonce: [UInt8] = []
            while nonce.count < count {
                v = HMAC.sha256(key: k, v)
                nonce += v
            }
            return Array(nonce.prefix(count))
        }
    }
}
