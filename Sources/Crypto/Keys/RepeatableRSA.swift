import COpenSSL

extension RSAComponents {
    /// Derives a 2,048-bit RSA key from a seed: each prime is the first one at or after a number that is derived from the seed.
    ///
    /// Only for seeded testing stores; other stores use the primes of OpenSSL.
    static func key(from seed: SecretBytes) -> RSAComponents {
        let numbers = BigNumbers()
        let (p, q, e) = (prime("p", seed, numbers), prime("q", seed, numbers), numbers.number([1, 0, 1]))
        if BN_cmp(p, q) < 0 { BN_swap(p, q) }
        let (n, p1, q1, phi) = (numbers.new(), numbers.new(), numbers.new(), numbers.new())
        let (d, dp, dq, qi) = (numbers.new(), numbers.new(), numbers.new(), numbers.new())
        let done =
            BN_mul(n, p, q, numbers.context) == 1 && BN_copy(p1, p) != nil && BN_sub_word(p1, 1) == 1 && BN_copy(q1, q) != nil
            && BN_sub_word(q1, 1) == 1 && BN_mul(phi, p1, q1, numbers.context) == 1
            && BN_mod_inverse(d, e, phi, numbers.context) != nil && BN_nnmod(dp, d, p1, numbers.context) == 1
            && BN_nnmod(dq, d, q1, numbers.context) == 1 && BN_mod_inverse(qi, q, p, numbers.context) != nil
        guard done else { cannotContinue("make an RSA key") }
        return RSAComponents { name in
            let number =
                switch name {
                case .n: n
                case .e: e
                case .d: d
                case .p: p
                case .q: q
                case .dp: dp
                case .dq: dq
                case .qi: qi
                }
            return SecretBytes(numbers.bytes(number))
        }
    }

    /// Returns a prime of 1,024 bits with the two highest bits set, so that the prime minus one has no common factor with 65,537.
    private static func prime(_ name: String, _ seed: SecretBytes, _ numbers: BigNumbers) -> OpaquePointer {
        var place = HKDF.sha256(secret: seed, salt: [], info: "mintmark RSA \(name)", count: 128).copy()
        place[0] |= 0xC0
        place[127] |= 1
        let number = numbers.number(place)
        while true {
            if BN_mod_word(number, 65_537) != 1, BN_check_prime(number, numbers.context, nil) == 1 { return number }
            BN_add_word(number, 2)
        }
    }
}
