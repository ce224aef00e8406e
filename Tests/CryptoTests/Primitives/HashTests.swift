import Crypto
import Platform
import Testing

@Suite struct HashTests {
    @Test("SHA-1 and SHA-2 match the examples of FIPS 180-4")
    func example() {
        #expect(Hash.sha1("abc".utf8) == hex("a9993e364706816aba3e25717850c26c9cd0d89d"))
        #expect(Hash.sha256("abc".utf8) == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(
            Hash.sha384("abc".utf8)
                == hex("cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"))
        #expect(
            Hash.sha512("abc".utf8)
                == hex(
                    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"))
    }

    @Test("empty input has a digest, and a slice has the digest of its copy")
    func emptyAndSlice() {
        #expect(Hash.sha256([]) == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        #expect(Hash.sha256([9, 1, 2, 3, 9][1...3]) == Hash.sha256([1, 2, 3]))
        #expect(Hash.sha256([1, 2, 3].reversed()) == Hash.sha256([3, 2, 1]))
    }
}
