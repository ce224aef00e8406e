import Foundation
import Testing

@testable import Crypto

@Suite struct OpenSSLCommandTests {
    static let generation: [SigningAlgorithm: [String]] = [
        .ES256: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        .RS256: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        .RS512: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"],
        .EdDSA: ["-algorithm", "ED25519"],
    ]

    @Test("openssl reads our PKCS #8 bytes as the key whose public part we publish", arguments: SigningAlgorithm.allCases)
    func readsOurs(_ algorithm: SigningAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let printed = try Programs.run("openssl", ["pkey", "-inform", "DER", "-pubout"], input: key.pkcs8.copy())
        #expect(String(decoding: printed, as: UTF8.self) == key.publicKey.pem)
        let again = try Programs.run(
            "openssl", ["pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-outform", "DER"], input: key.pkcs8.copy())
        #expect(again == key.pkcs8.copy())
        let check = try Programs.run("openssl", ["pkey", "-inform", "DER", "-check", "-noout"], input: key.pkcs8.copy())
        #expect(String(decoding: check, as: UTF8.self).contains("Key is valid"))
    }

    @Test("we read the PKCS #8 bytes openssl generates, and write the same", arguments: SigningAlgorithm.allCases)
    func weReadTheirs(_ algorithm: SigningAlgorithm) throws {
        let pem = try Programs.run("openssl", ["genpkey", "-quiet"] + Self.generation[algorithm]!)
        let der = try Programs.run("openssl", ["pkcs8", "-topk8", "-nocrypt", "-outform", "DER"], input: pem)
        let key = try PrivateKey(pkcs8: SecretBytes(der), algorithm: algorithm)
        #expect(key.pkcs8.copy() == der)
        #expect(key.publicKey.verify(try key.sign(utf8("hello")), of: utf8("hello")))
        let spki = try Programs.run("openssl", ["pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input: der)
        #expect(key.publicKey.spki == spki)
    }

    @Test("openssl verifies our signatures", arguments: SigningAlgorithm.allCases)
    func verifiesOurs(_ algorithm: SigningAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let message = utf8("hello")
        try Programs.withFolder { folder in
            var signature = try key.sign(message)
            if algorithm == .ES256 { signature = encoded(signature) }
            try Data(signature).write(to: folder.appending(path: "signature"))
            try Data(message).write(to: folder.appending(path: "message"))
            try Data(key.publicKey.pem.utf8).write(to: folder.appending(path: "key.pem"))
            let digest = ["-digest", algorithm == .RS512 ? "sha512" : "sha256"]
            try Programs.run(
                "openssl",
                [
                    "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", folder.appending(path: "key.pem").path,
                    "-sigfile", folder.appending(path: "signature").path, "-in", folder.appending(path: "message").path,
                ] + (algorithm == .EdDSA ? [] : digest))
        }
    }

    @Test("we verify openssl's signatures on the curves we only verify", arguments: [Curve.p384, .p521])
    func verifiesTheirs(_ curve: Curve) throws {
        try Programs.withFolder { folder in
            let pem = folder.appending(path: "key.pem").path
            try Programs.run(
                "openssl", ["genpkey", "-quiet", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve.rawValue)", "-out", pem])
            let key = try PublicKey(spki: Programs.run("openssl", ["pkey", "-in", pem, "-pubout", "-outform", "DER"]))
            #expect(key.algorithm == curve.algorithm)
            let digest = curve == .p384 ? "-sha384" : "-sha512"
            let der = try Programs.run("openssl", ["dgst", digest, "-sign", pem], input: utf8("hello"))
            var joined = [UInt8](repeating: 0, count: 2 * curve.coordinateCount)
            let isSplit = der.withUnsafeBytes { der in joined.withUnsafeMutableBytes { ECDSASignature.split(der, into: $0) } }
            #expect(isSplit)
            #expect(key.verify(joined, of: utf8("hello")))
            #expect(!key.verify(joined, of: utf8("hellO")))
        }
    }

    @Test("curves and kinds of keys we do not use are refused by name")
    func strangers() throws {
        func spki(_ options: [String]) throws -> [UInt8] {
            let der = try Programs.run("openssl", ["genpkey", "-quiet", "-outform", "DER"] + options)
            return try Programs.run("openssl", ["pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input: der)
        }
        let koblitz = try spki(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"])
        #expect(throws: KeyError.unsupportedCurve("secp256k1")) { try PublicKey(spki: koblitz) }
        let x25519 = try spki(["-algorithm", "X25519"])
        #expect(throws: KeyError.unsupportedType("X25519")) { try PublicKey(spki: x25519) }
        let short = try spki(["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
        #expect(throws: KeyError.unacceptableModulus(bits: 1024)) { try PublicKey(spki: short) }
    }

    private func encoded(_ joined: [UInt8]) -> [UInt8] {
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: ECDSASignature.maximumCount, alignment: 1)
        defer { space.deallocate() }
        return joined.withUnsafeBytes { Array(ECDSASignature.join($0, in: space)) }
    }
}
