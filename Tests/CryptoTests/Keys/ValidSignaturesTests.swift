import Testing

@testable import Crypto

@Suite("valid signatures")
struct ValidSignaturesTests {
    private let known = ValidSignatures()

    @Test("a signature that was found valid is known, and still valid", arguments: [SigningAlgorithm.ES256, .RS256])
    func known(_ algorithm: SigningAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let signature = try key.sign(utf8("message"))
        for _ in 0..<3 { #expect(key.publicKey.verify(signature, of: utf8("message"), unlessKnown: known)) }
    }

    @Test("after a valid signature, another message, signature or key is refused, also when it is repeated")
    func others() throws {
        let (key, other) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.ES256))
        let signature = try key.sign(utf8("message"))
        #expect(key.publicKey.verify(signature, of: utf8("message"), unlessKnown: known))
        var changed = signature
        changed[63] ^= 1
        for _ in 0..<2 {
            #expect(!key.publicKey.verify(signature, of: utf8("another message"), unlessKnown: known))
            #expect(!key.publicKey.verify(changed, of: utf8("message"), unlessKnown: known))
            #expect(!key.publicKey.verify(signature + [0], of: utf8("message"), unlessKnown: known))
            #expect(!key.publicKey.verify([], of: utf8("message"), unlessKnown: known))
            #expect(!other.publicKey.verify(signature, of: utf8("message"), unlessKnown: known))
        }
    }

    @Test("the entries found last stay, and the oldest ones of a set leave")
    func replacement() {
        let names = (0..<5).map { ValidSignatures.Name(3, 7, 1, $0) }
        #expect(!known.contains(names[0]))
        for name in names[..<4] { known.insert(name) }
        #expect(known.contains(names[0]))
        known.insert(names[4])
        #expect(known.contains(names[0]))
        #expect(!known.contains(names[1]))
        #expect(names[2...].allSatisfy { known.contains($0) })
    }

    @Test("most of as many entries as half the capacity are kept")
    func capacity() {
        var random = SystemRandomNumberGenerator()
        let names = (0..<ValidSignatures.capacity / 2).map { _ in ValidSignatures.Name.random(in: 1...UInt64.max, using: &random) }
        for name in names { known.insert(name) }
        #expect(names.count { known.contains($0) } > names.count * 9 / 10)
    }
}
