import Crypto
import Testing

@Suite struct RandomTests {
    /// Returns ascending bytes, so that the results are predictable.
    struct Counting: RandomSource {
        let first: UInt8
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { first &+ UInt8($0) } }
    }

    @Test("the system source returns the requested number of bytes without repetition")
    func system() {
        #expect(SystemRandom().bytes(0) == [])
        let draws = Set((0..<100).map { _ in SystemRandom().bytes(16) })
        #expect(draws.count == 100)
        #expect(draws.allSatisfy { $0.count == 16 })
    }

    @Test("a UUID has version 4 and the variant of RFC 9562")
    func uuid() {
        #expect(Counting(first: 0).uuid() == "00010203-0405-4607-8809-0a0b0c0d0e0f")
        #expect(Counting(first: 0xF0).uuid() == "f0f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff")
    }

    @Test("a time-ordered UUID sorts by its time, then by its position")
    func timedUUID() {
        let random = Counting(first: 0xF0)
        #expect(random.uuid(at: 1_700_000_000, position: 0) == "018bcfe5-6800-7000-b8f9-fafbfcfdfeff")
        #expect(random.uuid(at: 1_700_000_000, position: 4095) == "018bcfe5-6800-7fff-b8f9-fafbfcfdfeff")
        #expect(random.uuid(at: 1_700_000_000, position: 4096) == "018bcfe5-6801-7000-b8f9-fafbfcfdfeff")
        #expect(random.uuid(at: 1_700_000_001, position: 0) == "018bcfe5-6be8-7000-b8f9-fafbfcfdfeff")
        #expect(SystemRandom().uuid(at: 1, position: 1) != SystemRandom().uuid(at: 1, position: 1))
    }

    @Test("codes are decimal, and bytes that would bias the digits are discarded")
    func digits() {
        #expect(Counting(first: 7).decimalDigits(6) == "789012")
        #expect(SystemRandom().decimalDigits(8).utf8.allSatisfy { (48...57).contains($0) })
        // The bytes 248 and 249 are used, 250 to 255 are discarded: each draw of eight bytes yields two digits.
        #expect(Counting(first: 248).decimalDigits(4) == "8989")
    }
}
