/// Recognizes RSA moduli whose primes a faulty library made: Infineon's RSALib, whose private keys can be computed from the public ones
/// ("ROCA", CVE-2017-15361).
///
/// Each of its primes has the form k·M + (65537^a mod M), where M is a product of small primes. Modulo each of these small primes the
/// modulus is therefore a power of 65537. Of the moduli that others make, one in about 2^27 is like that by chance.
///
/// - Source: Nemec, Sys, Svenda, Klinec, Matyas: "The Return of Coppersmith's Attack", ACM CCS 2017, section 2.3.
enum WeakPrimes {
    /// The odd primes up to 167, which are factors of M for every length of key.
    static let primes: [Int] = [
        3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137,
        139, 149, 151, 157, 163, 167,
    ]

    /// The primes modulo which not every number is a power of 65537, with the powers.
    private static let fingerprints: [(prime: Int, powers: Set<Int>)] = primes.compactMap { prime in
        var powers: Set<Int> = []
        var power = 1
        while powers.insert(power).inserted { power = power * 65537 % prime }
        return powers.count < prime - 1 ? (prime, powers) : nil
    }

    /// - Parameter modulus: the most significant byte first.
    static func made(_ modulus: [UInt8]) -> Bool {
        fingerprints.allSatisfy { prime, powers in powers.contains(modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }) }
    }
}
