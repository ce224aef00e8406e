import Platform
import Testing

@testable import WebAuthn

@Suite struct CBORTests {
    @Test(arguments: [
        "00", "17", "1818", "190100", "1b7fffffffffffffff", "20", "3b7fffffffffffffff", "40", "4401020304", "60", "6161", "80", "83010203",
        "a0", "a26161016162820203", "f4", "f5", "f6", "1800", "1900ff", "8181818181818100",
    ]) func supportedValuesAreRead(_ hex: String) { #expect(CBOR.read(whole: Hex.decode(hex)![...]) != nil) }

    @Test(arguments: [
        "", "18", "19ff", "1b8000000000000000", "1bffffffffffffffff", "3bffffffffffffffff",  // cut off, or beyond 63 bits
        "1c", "1d", "1e", "1f", "fc",  // reserved
        "5f42010243030405ff", "7f616161ff", "9f01ff", "bf616101ff",  // indefinite lengths
        "c000", "d81800",  // tags
        "f93c00", "fa47c35000", "fb3ff199999999999a", "f7", "f0", "f818",  // floats, undefined, simple values
        "a2616101616102", "a201010102",  // duplicate keys
        "a1400100", "a18001", "a1f501",  // keys of other kinds
        "5b7fffffffffffffff00", "9b7fffffffffffffff00", "bb7fffffffffffffff0000",  // lengths beyond the input
        "61ff", "62c328",  // text that is not UTF-8
        "818181818181818100",  // nine levels
        "0000",  // something follows
    ]) func otherInputIsRefused(_ hex: String) { #expect(CBOR.read(whole: Hex.decode(hex)![...]) == nil) }

    /// A key may be encoded in several widths; it is the same key.
    @Test func keysOfDifferentWidthAreDuplicates() { #expect(CBOR.read(whole: Hex.decode("a200011800" + "02")![...]) == nil) }

    /// Random bytes, and bytes near valid ones, never crash and never take long.
    @Test func randomInputIsRefusedOrRead() {
        var generator = SplitMix(state: 1)
        let good = Vector.named("packed-rs256").registration.attestationObject
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = CBOR.read(whole: bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
        }
    }
}

/// A small generator, so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
