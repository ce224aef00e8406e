import Crypto
import JSON
import Platform
import Testing

@Suite struct PublicKeyRefusalTests {
    static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    static let edX = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

    /// A random odd modulus with the given number of bits.
    static func modulus(bits: Int) -> String {
        var bytes = SystemRandom().bytes((bits + 7) / 8)
        let top = (bits - 1) % 8
        bytes[0] = bytes[0] & (1 << top - 1) | 1 << top
        bytes[bytes.count - 1] |= 1
        return Base64URL.encode(bytes)
    }

    /// A product of two primes of the form k * M + (65537 ^ a mod M), where M is the product of the primes up to 167
    /// (CVE-2017-15361).
    static let weakModulus =
        "xoNuXp9vnQKnrWBVhnwM-TCOksbHz7mSgLwp3kUgnpxUC4ErRY0DSONAMI_U90sBJrsYKRDDLdjnEDin5sjbWwJnwQgGQxw4SQietAMaIyhtcjta0WgYz9o_0XnBAY95"
        + "eZaJRWrJil3aF4NJeRDS_Z7Wc1O0zAuWyEAIPY-lIg-jeqxq5ep3V2MriSPQZH3uaHGi_Nn6J0JYX0i1UeVECsnKgRKb4kzJWWiTQJavBzyEi43xGGsa9befFxvde43N"
        + "yO5BXW9ObaS-FULASN8O4T-pbmRAw9WZOKf2rKLpBSKfUd_gAYYpO4O7ws2AWy63dciT9XUWSTrnKxw374mprQ"

    static let cases: [(key: String, error: KeyError)] = [
        ("{}", .malformedMember("kty")),
        (#"{"kty":7}"#, .malformedMember("kty")),
        (#"{"kty":"oct","k":"AAAA"}"#, .unsupportedType("oct")),
        (#"{"kty":"EC","crv":"secp256k1","x":"\#(x)","y":"\#(y)"}"#, .unsupportedCurve("secp256k1")),
        (#"{"kty":"OKP","crv":"X25519","x":"\#(edX)"}"#, .unsupportedCurve("X25519")),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#, .malformedMember("y")),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)=","y":"\#(y)"}"#, .malformedMember("x")),
        (#"{"kty":"EC","crv":"P-256","x":"AA","y":"\#(y)"}"#, .malformedMember("x")),
        (#"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)"}"#, .malformedMember("x")),
        (#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, .malformedMember("x")),
        // The last bit of `y` is changed: the coordinate is in the field, but the point is not on the curve.
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5aw"}"#, .invalidPublicKey),
        (
            #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode([UInt8](repeating: 0xFF, count: 32)))","y":"\#(y)"}"#,
            .invalidPublicKey
        ),
        (
            #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode([UInt8](repeating: 0, count: 32)))","y":"\#(Base64URL.encode([UInt8](repeating: 0, count: 32)))"}"#,
            .invalidPublicKey
        ),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":"AA"}"#, .privateKeyPublished),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","use":"enc"}"#, .notForSignatures),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","key_ops":["deriveKey"]}"#, .notForSignatures),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","key_ops":"verify"}"#, .malformedMember("key_ops")),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","alg":"ES512"}"#, .algorithmMismatch(.ES512)),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","alg":"HS256"}"#, .unsupportedAlgorithm("HS256")),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","alg":"none"}"#, .unsupportedAlgorithm("none")),
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":7}"#, .malformedMember("kid")),
        (#"{"kty":"RSA","n":"\#(modulus(bits: 2047))","e":"AQAB"}"#, .unacceptableModulus(bits: 2047)),
        (#"{"kty":"RSA","n":"\#(modulus(bits: 1024))","e":"AQAB"}"#, .unacceptableModulus(bits: 1024)),
        (#"{"kty":"RSA","n":"\#(modulus(bits: 8193))","e":"AQAB"}"#, .unacceptableModulus(bits: 8193)),
        (#"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#, .malformedMember("n")),
        (#"{"kty":"RSA","n":"\#(modulus(bits: 2048))","e":"AQ"}"#, .unacceptableExponent),
        (#"{"kty":"RSA","n":"\#(modulus(bits: 2048))","e":"AQAA"}"#, .unacceptableExponent),
        (#"{"kty":"RSA","n":"\#(modulus(bits: 2048))","e":"AQAAAAAAAAAB"}"#, .unacceptableExponent),
        (#"{"kty":"RSA","n":"\#(weakModulus)","e":"AQAB"}"#, .weakModulus),
        (#"{"kty":"RSA","n":"\#(weakModulus)","e":"AQAB","alg":"PS512","kid":"a"}"#, .weakModulus),
        // A modulus with every bit set is odd and long enough, but has small factors.
        (#"{"kty":"RSA","n":"\#(Base64URL.encode([UInt8](repeating: 0xFF, count: 256)))","e":"AQAB"}"#, .invalidPublicKey),
    ]

    @Test("a key that violates a rule is rejected with the corresponding error", arguments: 0..<cases.count)
    func refused(_ index: Int) {
        let (key, error) = Self.cases[index]
        #expect(throws: error, "\(key)") { try PublicKey(jwk: json(key)) }
    }

    @Test("unknown members, key_ops with verify and use sig are accepted")
    func accepted() throws {
        let members = #""kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)""#
        #expect(try PublicKey(jwk: json(#"{\#(members),"use":"sig","key_ops":["verify"],"x5c":["AA"],"ext":true}"#)).algorithm == .ES256)
    }

    @Test("bytes that are not exactly one SubjectPublicKeyInfo are rejected")
    func encodings() throws {
        let spki = try PrivateKey.generate(.ES256).publicKey.spki
        for bytes in [[], [0x30], Array(spki.dropLast()), spki + [0]] {
            #expect(throws: KeyError.malformedEncoding) { try PublicKey(spki: bytes) }
        }
    }
}
